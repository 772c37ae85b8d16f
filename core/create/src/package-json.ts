import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { defined } from "@mrlm/spec";
import type { PackageManager } from "./package-manager.ts";
import type { PackageSource } from "./package-source.ts";

/** Package of Node for projects whose system has an older one: scripts of npm put it first on the path. */
const NODE = { node: "24.21.0" } as const;
const NEEDED = [24, 11] as const;

type Dependencies = Record<string, string>;
interface PackageJson {
  readonly dependencies?: Dependencies;
  readonly devDependencies?: Dependencies;
  readonly [key: string]: unknown;
}

/** Completes the package.json of a template: addresses of the packages of mrlm, and Node where that of the system is too old. */
export function completePackageJson(
  text: string,
  { source, manager, node = systemNodeVersion() }: { source: PackageSource; manager: PackageManager; node?: string },
): string {
  const template = JSON.parse(text) as PackageJson;
  const located = (dependencies: Dependencies = {}): Dependencies =>
    Object.fromEntries(
      Object.entries(dependencies).map(([name, version]) => [
        name,
        name.startsWith("@mrlm/") ? source.specOf(name) : version,
      ]),
    );
  const { dependencies, devDependencies, mrlm, ...rest } = template;
  const own = { ...located(devDependencies), ...(isOld(node) ? NODE : {}) };
  const completed = {
    ...rest,
    ...(dependencies && { dependencies: located(dependencies) }),
    devDependencies: Object.fromEntries(Object.entries(own).sort(([a], [b]) => (a < b ? -1 : 1))),
    ...overridesOf(source.overrides, manager),
    // Newer versions of npm run the scripts of these packages alone, and warn of others.
    allowScripts: { ...(isOld(node) && { node: true }), "isolated-vm": false, protobufjs: false },
    ...defined({ mrlm }),
  };
  return `${JSON.stringify(completed, null, 2)}\n`;
}

function overridesOf(overrides: PackageSource["overrides"], manager: PackageManager): object {
  if (Object.keys(overrides).length === 0) return {};
  if (manager === "pnpm") return { pnpm: { overrides } };
  return manager === "yarn" ? { resolutions: overrides } : { overrides };
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1]);
}

/**
 * Returns the version of the Node that runs the commands of a new project: the first one on the path outside of the packages of other projects, which npm
 * puts first; that of this process if there is none.
 */
function systemNodeVersion(): string {
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !/node_modules[\\/]/.test(folder));
  const { stdout = "" } = spawnSync("node", ["--version"], {
    encoding: "utf8",
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ["ignore", "pipe", "ignore"],
  });
  return /^v(\d+\.\d+\.\d+)/.exec(stdout ?? "")?.[1] ?? process.versions.node;
}
