import { join } from "node:path";
import { root } from "./repository.mjs";
import { runNode } from "./run.mjs";

/** The command line as users run it. */
export const mrlm = join(root, "core", "cli", "bin", "mrlm.js");

/** The engine's Python sources and tests. */
export const pythonFolder = join(root, "algorithms", "engine-torch", "python");

/**
 * Installs the engine's Python environment where it is not complete; prints progress on stderr.
 * @param {{ dev?: boolean }} [options] dev: with pytest, ruff and mypy, and with the optional packages, so that their tests run
 * @returns {Promise<string>} the interpreter
 */
export async function ensureEngine({ dev = false } = {}) {
  const command = [mrlm, "engine", "setup", "--json", ...(dev ? ["--extra", "dev", "lora"] : [])];
  const { stdout } = await runNode(command, { stdout: "capture" });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "").executable;
}
