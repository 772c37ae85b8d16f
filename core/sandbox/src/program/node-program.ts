import { existsSync, realpathSync } from "node:fs";
import { createRequire, findPackageJSON } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ChildProgram } from "./child-program.ts";

/** Parts of a Node child. */
export interface NodeProgramOptions {
  /** Module to run, `src/NAME.ts` or `dist/NAME.js` of a package. */
  readonly entry: URL;
  /** Names of the packages that it imports. */
  readonly packages: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly isJailed: boolean;
  readonly allowAddons?: boolean;
  /** Further paths that it may read, if they exist. */
  readonly readable?: readonly string[];
}

/** Folder of the package in the jail; the other packages are in /app/packages. */
const MAIN = "/app/main";

/** Returns a Node program under the permission model: it can read only the packages that it needs, and write nothing. */
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

/** Returns the folders in which Node looks for packages of a module in `folder`. */
function nodeModulesOf(folder: string): string[] {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, "node_modules"))) found.push(join(at, "node_modules"));
    if (dirname(at) === at) return found;
  }
}
