/** Supervised child processes for untrusted code. A sandbox plugin brings a backend; this package has everything else. */
export { detectJail } from "./jail/detect-jail.ts";
export { seccompFilter } from "./jail/seccomp.ts";
export { PooledSandbox, type PooledSandboxOptions } from "./pooled-sandbox.ts";
export type { SandboxBackend } from "./program/child-program.ts";
export { BaseWorkspace, type Opened } from "./workspace/base-workspace.ts";
export { BaseWorkspaces } from "./workspace/base-workspaces.ts";
export { TAKEN_NAMES } from "./workspace/local-workspace.ts";
export { LocalWorkspaces } from "./workspace/local-workspaces.ts";
export { nodeProgram } from "./program/node-program.ts";
export type { ChildRequest, ChildResult } from "./protocol/messages.ts";
