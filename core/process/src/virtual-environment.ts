import { existsSync, mkdirSync, rmSync } from "node:fs";
import { MrlmError } from "@mrlm/spec";
import type { Python } from "./probe-python.ts";
import type { RunProcess } from "./run-process.ts";

/**
 * Makes an empty virtual environment without pip, in place of the remains of an interrupted set-up.
 *
 * @throws SETUP_FAILED with the output of Python.
 */
export async function makeVirtualEnvironment(
  { directory, python }: { readonly directory: string; readonly python: Python },
  { run, progress }: { readonly run: RunProcess; readonly progress: (line: string) => void },
): Promise<void> {
  if (existsSync(directory)) {
    progress(`removing an unfinished environment in ${directory}`);
    rmSync(directory, { recursive: true, force: true });
  }
  mkdirSync(directory, { recursive: true });
  progress(`making an environment on Python ${python.version} (${python.executable}) in ${directory}`);
  const result = await run(python.executable, ["-I", "-m", "venv", "--without-pip", directory]);
  if (result.code === 0) return;
  const cause = result.error?.message ?? `${result.stdout}\n${result.stderr}`.trim();
  throw new MrlmError("SETUP_FAILED", `${python.executable} could not make a virtual environment:\n  ${cause}`, {
    hint: "Set MRLM_PYTHON to another Python, or MRLM_CACHE to a directory that you can write to.",
  });
}
