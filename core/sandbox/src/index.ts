/** Supervised child processes for untrusted code. A sandbox plugin brings a backend; this package has everything else. */
export { detectJail } from "./jail/detect-jail.ts";
export { seccompFilter } from "./jail/seccomp.ts";
export { PooledSandbox, type PooledSandboxOptions } from "./pooled-sandbox.ts";
export type { SandboxBackend } from "./program/child-program.ts";
export { Places } from "./session/places.ts";
export { BoundedOutput } from "./workspace/bounded-output.ts";
export { assertCommand, assertRunning, gone } from "./workspace/command-errors.ts";
export { DEFAULT_LIMITS, ENVIRONMENT, INTERACTIVE, signalOf } from "./workspace/conventions.ts";
export { LocalWorkspaces } from "./workspace/local-workspaces.ts";
export { PipedShell, type ShellProcess } from "./workspace/shell.ts";
export { type Snapshot, Snapshots } from "./workspace/snapshots.ts";
export { nodeProgram } from "./program/node-program.ts";
export type { ChildRequest, ChildResult } from "./protocol/messages.ts";
