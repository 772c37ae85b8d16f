import type { ExecResult, Workspace, WorkspaceOptions, Workspaces } from "@mrlm/spec";
import type { Check } from "../check/check.ts";

/** Check of one property of a provider of workspaces. */
export type WorkspaceCheck = Check<Workspaces>;

/** Works in a workspace, and closes it. */
export async function inWorkspace<T>(
  workspaces: Workspaces,
  options: WorkspaceOptions,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const workspace = await workspaces.open(options);
  try {
    return await work(workspace);
  } finally {
    await workspace.close();
  }
}

export function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

/** Describes the end of a command for messages and comparisons: exit code, stdout, stderr. */
export function outcomeOf({ exitCode, stdout, stderr }: ExecResult): [number | null, string, string] {
  return [exitCode, textOf(stdout) as string, textOf(stderr) as string];
}
