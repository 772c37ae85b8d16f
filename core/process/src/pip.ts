import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MrlmError } from "@mrlm/spec";
import type { ProcessResult, RunProcess } from "./run-process.ts";

/**
 * Program that runs pip from its wheel and exits when its parent exits. After a killed setup no pip may write into the directory of
 * the next setup.
 */
const GUARDED_PIP = `
import os, runpy, sys, threading
def end_with_parent():
    while os.read(0, 4096):
        pass
    os._exit(130)
threading.Thread(target=end_with_parent, daemon=True).start()
wheel = sys.argv.pop(1)
sys.path.insert(0, wheel)
sys.argv[0] = os.path.join(wheel, "pip")
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`;

/** Settings of the user that would make pip install outside the environment, or refuse to run without one. */
const HARMFUL = [
  "PIP_TARGET",
  "PIP_PREFIX",
  "PIP_ROOT",
  "PIP_REQUIRE_HASHES",
  "PIP_NO_DEPS",
  "PIP_DRY_RUN",
  "PIP_REPORT",
];

/** Runs pip under a Python, with the user's pip configuration (indices, proxies, certificates, cache). */
export type RunPip = (
  python: string,
  args: readonly string[],
  onLine?: (line: string) => void,
) => Promise<ProcessResult>;

/** Returns the arguments of a Python that runs pip with these arguments and exits with its parent. */
export function guardedPip(args: readonly string[], wheel: string = pipWheel()): string[] {
  return ["-I", "-X", "utf8", "-c", GUARDED_PIP, wheel, ...args];
}

/** Creates the function that runs pip. */
export function pipRunner(run: RunProcess, env: NodeJS.ProcessEnv = process.env): RunPip {
  const wheel = pipWheel();
  const settings = {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !HARMFUL.includes(name))),
    PIP_USER: "0",
    PIP_REQUIRE_VIRTUALENV: "0",
    PIP_NO_INPUT: "1",
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    PIP_NO_COLOR: "1",
  };
  return (python, args, onLine) => run(python, guardedPip(args, wheel), { env: settings, ...(onLine && { onLine }) });
}

/** pip is part of this package, so neither the machine's pip nor ensurepip is needed. */
const WHEEL = fileURLToPath(new URL("../vendor/pip-26.3-py3-none-any.whl", import.meta.url));
const SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13";

/** Returns the path of the vendored wheel after a check of its SHA-256. @throws SETUP_FAILED for another checksum. */
export function pipWheel(path: string = WHEEL): string {
  const actual = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (actual === SHA256) return path;
  throw new MrlmError("SETUP_FAILED", `${path} is damaged: its SHA-256 is ${actual}, not ${SHA256}.`, {
    hint: "Install @mrlm/process again (`npm ci`).",
  });
}
