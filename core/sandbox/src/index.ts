/** Supervised child processes for untrusted code. A sandbox plugin brings a backend; this package has everything else. */
export { detectJail } from "./jail/detect-jail.ts";
export type { Jail, Launch } from "./jail/launch.ts";
export { type SeccompOptions, seccompFilter } from "./jail/seccomp.ts";
export type { PoolOptions } from "./pool/pool.ts";
export { DEFAULT_LIMITS, PooledSandbox, type PooledSandboxOptions } from "./pooled-sandbox.ts";
export type { ChildProgram, SandboxBackend } from "./program/child-program.ts";
export { nodeProgram, type NodeProgramOptions } from "./program/node-program.ts";
export { ANSWER_FD, type ChildMessage, type ChildRequest, type ChildResult, REQUEST_FD } from "./protocol/messages.ts";
