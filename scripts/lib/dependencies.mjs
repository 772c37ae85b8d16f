import { existsSync } from "node:fs";
import { join } from "node:path";
import { progress } from "./progress.mjs";
import { readJson, root } from "./repository.mjs";
import { projectNode, run } from "./run.mjs";
import { ScriptError } from "./script.mjs";

/** Installs the packages of package-lock.json, unless node_modules already holds them. */
export async function ensureDependencies() {
  if (isInstalled()) return;
  await progress("installing Node packages (npm ci, about a minute)", () =>
    run("npm", ["ci", "--loglevel=error", "--no-progress", "--no-audit", "--no-fund", "--include=dev"], {
      isInstalling: true,
    }),
  );
  if (!existsSync(projectNode)) {
    throw new ScriptError(
      'npm ci did not install the project\'s Node: the install script of the package "node" did not run. ' +
        "Check that npm is not configured with ignore-scripts, then run npm ci again.",
    );
  }
}

/** npm records what it has installed in node_modules/.package-lock.json, after install scripts have run. */
function isInstalled() {
  const record = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(record) || !existsSync(projectNode)) return false;
  return isSameTree(readJson(join(root, "package-lock.json")).packages, readJson(record).packages);
}

/**
 * Whether the installed tree is the locked one. Optional packages may be missing: they are for other platforms.
 * @param {Record<string, any>} locked @param {Record<string, any>} installed both as in `packages` of a lock file
 */
export function isSameTree(locked, installed) {
  const isModule = (/** @type {string} */ path) => path.includes("node_modules/");
  const identity = (/** @type {any} */ entry) =>
    entry && [entry.version, entry.integrity, entry.link && entry.resolved].join();
  return (
    Object.keys(installed)
      .filter(isModule)
      .every((path) => path in locked) &&
    Object.entries(locked)
      .filter(([path]) => isModule(path))
      .every(([path, entry]) =>
        path in installed ? identity(installed[path]) === identity(entry) : entry.optional || entry.devOptional,
      )
  );
}
