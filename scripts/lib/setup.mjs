import { join } from "node:path";
import { ensureDependencies } from "./dependencies.mjs";
import { ensureEngine } from "./engine.mjs";
import { progress } from "./progress.mjs";
import { readJson, root } from "./repository.mjs";
import { run, runNode } from "./run.mjs";

/**
 * Prepares a fresh clone so that `mrlm` works; each part does nothing when nothing has changed.
 * @param {{ dev?: boolean }} [options] dev: with the tools that check the Python code
 * @returns {Promise<{ python: string }>} the engine's interpreter
 */
export async function setup(options) {
  await ensureDependencies();
  await buildJavaScript();
  // Tests run from the sources. Editors need the declarations: without them each import is `any`.
  if (!options?.dev) await writeDeclarations();
  return { python: await ensureEngine(options) };
}

/** Bundles every package that has changed. */
export async function buildJavaScript() {
  await runNode(["scripts/build-javascript.mjs"]);
}

/** Writes the declarations of every package that has changed. */
async function writeDeclarations() {
  await progress("writing type declarations", () => run("tsc", ["--build", ...declaredFolders()]));
}

/** Returns the folders of the packages whose declarations are written. @returns {string[]} */
export function declaredFolders() {
  const { references } = readJson(join(root, "tsconfig.json"));
  return references
    .map((/** @type {{ path: string }} */ { path }) => path)
    .filter((/** @type {string} */ path) => !path.endsWith(".json"));
}
