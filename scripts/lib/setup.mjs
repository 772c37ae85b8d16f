import { ensureDependencies } from "./dependencies.mjs";
import { ensureEngine } from "./engine.mjs";
import { runNode } from "./run.mjs";

/**
 * Everything between a fresh clone and a working `mrlm`; each part does nothing when nothing has changed.
 * @param {{ dev?: boolean }} [options] dev: with the tools that check the Python code
 * @returns {Promise<{ python: string }>} the engine's interpreter
 */
export async function setup(options) {
  await ensureDependencies();
  await buildJavaScript();
  return { python: await ensureEngine(options) };
}

/** Bundles every package that has changed. */
export async function buildJavaScript() {
  await runNode(["scripts/build-javascript.mjs"]);
}
