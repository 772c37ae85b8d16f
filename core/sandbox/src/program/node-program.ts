import { existsSync, realpathSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildProgram } from "./child-program.ts";

/** What a Node child consists of. */
export interface NodeProgramOptions {
  /** The module to run, `src/NAME.ts` or `dist/NAME.js` of a package. */
  readonly entry: URL;
  /** Packages that it imports, by name. */
  readonly packages: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly isJailed: boolean;
  readonly allowAddons?: boolean;
  /** Other paths that it may read, if they exist. */
  readonly readable?: readonly string[];
}

/** In the jail the package itself lies in /app/main and the others in /app/packages. */
const MAIN = "/app/main";

/** A Node process under its permission model: it reads nothing but the packages that it needs, and writes nothing. */
export function nodeProgram(options: NodeProgramOptions): ChildProgram {
  const { entry, packages, isJailed } = options;
  const path = realpathSync(fileURLToPath(entry));
  const root = packageRoot(path);
  const placed = packages.map((name) => {
    const source = packageRoot(realpathSync(resolveFrom(path, name)));
    return { name, source, target: `/app/packages/${name}` };
  });
  const main = isJailed ? join(MAIN, relative(root, path)) : path;
  const readable = isJailed ? ["/app"] : [root, ...placed.map(({ source }) => source), ...nodeModulesOf(root)];
  return {
    command: isJailed ? "/app/node" : process.execPath,
    args: [
      "--no-node-snapshot",
      "--no-warnings",
      "--permission",
      ...(options.allowAddons === true ? ["--allow-addons"] : []),
      ...[...readable, ...(options.readable ?? [])].map((folder) => `--allow-fs-read=${folder}`),
      ...(path.endsWith(".ts") ? ["--conditions=mrlm-source"] : []),
      ...(options.nodeOptions ?? []),
      main,
    ],
    mounts: [
      { source: realpathSync(process.execPath), target: "/app/node" },
      { source: root, target: MAIN },
      ...placed.map(({ source, target }) => ({ source, target })),
    ],
    links: placed.map(({ name, target }) => ({ target, path: `/app/node_modules/${name}` })),
  };
}

function resolveFrom(path: string, name: string): string {
  const found = findPackageJSON(name, path) ?? createRequire(path).resolve(`${name}/package.json`);
  return found;
}

function packageRoot(path: string): string {
  let folder = dirname(path);
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

/** Where Node looks for packages of a module in `folder`. */
function nodeModulesOf(folder: string): string[] {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, "node_modules"))) found.push(join(at, "node_modules"));
    if (dirname(at) === at) return found;
  }
}
