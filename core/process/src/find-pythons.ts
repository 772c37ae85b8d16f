import { MrlmError } from "@mrlm/spec";
import type { RunProcess } from "./run-process.ts";
import { isRejected, probePython, type Python, type RejectedPython } from "./probe-python.ts";
import { pythonCandidates, type PythonSearch } from "./python-candidates.ts";
import { SUPPORTED_PYTHONS } from "./python-versions.ts";

/**
 * Finds all suitable Pythons, best first.
 *
 * @param chosen - the only Python to check: a path or a name that the user set.
 * @throws PYTHON_NOT_FOUND if no Python runs, PYTHON_VERSION if only unsuitable ones do.
 */
export async function findPythons(search: PythonSearch, run: RunProcess, chosen?: string): Promise<Python[]> {
  const candidates = chosen === undefined ? pythonCandidates(search) : [{ command: chosen, args: [] }];
  const outcomes = await Promise.all(candidates.map((candidate) => probePython(candidate, run)));
  const suitable = outcomes.filter((outcome): outcome is Python => !isRejected(outcome));
  const distinct = new Map(suitable.map((python) => [python.executable, python]));
  if (distinct.size === 0) throw notFound(outcomes.filter(isRejected), chosen);
  return [...distinct.values()];
}

function notFound(rejected: readonly RejectedPython[], chosen: string | undefined): MrlmError {
  const looked = rejected.map(({ command, reason }) => `\n  ${command} ${reason}`).join("");
  const what =
    chosen === undefined ? `${SUPPORTED_PYTHONS} is needed, and none was found` : "The chosen Python cannot be used";
  const where = looked === "" ? "there is no `python3` or `python` on PATH." : `looked at:${looked}`;
  const runs = rejected.some(({ version, reason }) => version !== undefined || reason.includes("older"));
  return new MrlmError(runs ? "PYTHON_VERSION" : "PYTHON_NOT_FOUND", `${what}; ${where}`, {
    hint:
      `Install ${SUPPORTED_PYTHONS} (Debian, Ubuntu: apt install python3; Fedora: dnf install python3.13; macOS: brew install python@3.13), ` +
      "or set MRLM_PYTHON to the path of one. Neither pip nor venv's ensurepip is needed.",
  });
}
