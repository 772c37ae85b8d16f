/** Entry for environments of Python: finds interpreters, makes virtual environments, installs packages with a pip of its own. */

export { findPythons } from "./find-pythons.ts";
export { withHeartbeat } from "./heartbeat.ts";
export { readJson, writeJson } from "./json-file.ts";
export { isUnreachable, pipFailure } from "./pip-failure.ts";
export { pipProgress } from "./pip-progress.ts";
export { pipRunner, type RunPip } from "./pip.ts";
export type { Python } from "./probe-python.ts";
export { searchOfMachine } from "./python-candidates.ts";
export { runProcess, type RunProcess } from "./run-process.ts";
export { withSetupLock } from "./setup-lock.ts";
export { executableOf, readStamp, type Stamp, writeStamp } from "./stamp.ts";
export { makeVirtualEnvironment } from "./virtual-environment.ts";
