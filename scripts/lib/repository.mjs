import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

/** Folders whose imports dependency-cruiser checks. */
export const importFolders = [
  "core",
  "environments",
  "plugins",
  "algorithms",
  "test",
  "benchmarks",
  "examples",
  "templates",
  "scripts",
];

/** Descriptors that the protocols must stay compatible with. `npm run protos:image` writes them. */
export const protocolImage = "protos/image.binpb";

/** Folder in which scripts record finished steps. `npm ci` empties it with node_modules. */
export const cacheDirectory = join(root, "node_modules", ".cache", "mrlm");

/**
 * The workspace packages, in the order of the `workspaces` globs (each of the form `folder/*`).
 * @returns {{ folder: string, path: string, manifest: any }[]} folder is relative to the repository, with `/`
 */
export function packages() {
  const { workspaces } = readJson(join(root, "package.json"));
  return workspaces.flatMap((/** @type {string} */ glob) => {
    const parent = glob.slice(0, -"/*".length);
    if (!existsSync(join(root, parent))) return [];
    return readdirSync(join(root, parent))
      .sort()
      .map((name) => ({ folder: `${parent}/${name}`, path: join(root, parent, name) }))
      .filter(({ path }) => existsSync(join(path, "package.json")))
      .map((entry) => ({ ...entry, manifest: readJson(join(entry.path, "package.json")) }));
  });
}

/** @param {string} file */
export function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
