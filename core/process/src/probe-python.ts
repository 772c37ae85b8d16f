import type { RunProcess } from "./run-process.ts";
import type { PythonCommand } from "./python-candidates.ts";
import { isSupportedVersion, SUPPORTED_PYTHONS } from "./python-versions.ts";

/** A Python on which environments are made. */
export interface Python {
  /** Path of the interpreter itself, with shims and launchers resolved. */
  readonly executable: string;
  /** For example `3.11.7`. */
  readonly version: string;
}

/** A Python that cannot run the engine, with the reason. */
export interface RejectedPython {
  readonly command: string;
  readonly reason: string;
  /** Version, where it is known. */
  readonly version?: string;
}

/** Modules that some distributions and custom builds leave out. ensurepip is not needed. */
const NEEDED_MODULES = ["venv", "_ssl", "zlib", "_ctypes"];

const PROBE = `
import json, platform, sys, sysconfig
from importlib.util import find_spec
print(json.dumps({
    "executable": sys.executable, "version": platform.python_version(), "implementation": sys.implementation.name,
    "wide": sys.maxsize > 2**32, "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "missing": [name for name in ${JSON.stringify(NEEDED_MODULES)} if find_spec(name) is None]}))
`;

interface ProbeAnswer {
  readonly executable: string;
  readonly version: string;
  readonly implementation: string;
  readonly wide: boolean;
  readonly free_threaded: boolean;
  readonly missing: readonly string[];
}

/** Runs a Python to read its version and modules. Rejects a shim without a version behind it, and the stub of an app store. */
export async function probePython(candidate: PythonCommand, run: RunProcess): Promise<Python | RejectedPython> {
  const command = [candidate.command, ...candidate.args].join(" ");
  const result = await run(candidate.command, [...candidate.args, "-I", "-c", PROBE], { timeoutMs: 20_000 });
  const answer = parseAnswer(result.stdout);
  if (answer === undefined) return { command, reason: reasonOf(result.error?.message ?? result.stderr, result.code) };
  const fault = faultOf(answer);
  return fault === undefined
    ? { executable: answer.executable, version: answer.version }
    : { command, reason: fault, version: answer.version };
}

/** Whether a probe found no suitable Python. */
export function isRejected(outcome: Python | RejectedPython): outcome is RejectedPython {
  return "reason" in outcome;
}

function parseAnswer(stdout: string): ProbeAnswer | undefined {
  try {
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as ProbeAnswer;
  } catch {
    return undefined;
  }
}

function faultOf(answer: ProbeAnswer): string | undefined {
  if (!isSupportedVersion(answer.version)) return `is ${answer.version}, not ${SUPPORTED_PYTHONS}`;
  if (answer.implementation !== "cpython") return `is ${answer.implementation}, and CPython is needed`;
  if (answer.free_threaded) return `is ${answer.version} without the GIL, for which not every package has a wheel`;
  if (!answer.wide) return "is a 32-bit build, and 64 bits are needed";
  if (answer.missing.length > 0)
    return `is ${answer.version} but lacks the standard modules ${answer.missing.join(", ")}`;
  return undefined;
}

function reasonOf(message: string, code: number | null): string {
  if (/unknown option: -I/i.test(message)) return "is older than Python 3.4";
  const line = message
    .split("\n")
    .find((text) => text.trim() !== "")
    ?.trim();
  return line === undefined ? `does not run (exit code ${code ?? "none"})` : `does not run: ${line.slice(0, 200)}`;
}
