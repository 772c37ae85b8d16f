import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheDirectory } from "./repository.mjs";

const skipped = new Set(["node_modules", "dist", "__pycache__"]);

/**
 * Returns a hash of the names and contents of files and folders (recursively); a missing path counts as absent.
 * @param {string[]} paths
 */
export function fingerprint(paths) {
  const hash = createHash("sha256");
  for (const path of paths) {
    for (const file of filesIn(path)) hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  }
  return hash.digest("hex");
}

/** @param {string} path @returns {string[]} */
function filesIn(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .filter((name) => !skipped.has(name))
    .sort()
    .flatMap((name) => filesIn(join(path, name)));
}

/**
 * Returns the fingerprint that a step stored when it last succeeded.
 * @param {string} name
 */
export function stampOf(name) {
  const file = join(cacheDirectory, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** @param {string} name @param {string} value */
export function writeStamp(name, value) {
  const file = join(cacheDirectory, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, value);
}
