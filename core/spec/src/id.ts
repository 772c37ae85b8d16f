/**
 * `name@version`, for example `math@1`. A change that can alter learning results raises the version.
 */
export type VersionedId = `${string}@${number}`;

/** Name of an agent within an environment. */
export type AgentId = string;

/** Name of the agent of a single-agent environment. */
export const SINGLE_AGENT: AgentId = "agent";

/** `split/index`, for example `train/17`; the index begins at 0. */
export type TaskId = string;

const VERSIONED_ID = /^([a-z][a-z0-9-]*)@([1-9][0-9]*)$/;

/** Splits `math@1` into name and version. Returns `undefined` for a string of another form. */
export function parseVersionedId(id: string): { name: string; version: number } | undefined {
  const match = VERSIONED_ID.exec(id);
  return match ? { name: match[1] as string, version: Number(match[2]) } : undefined;
}
