/**
 * `name@version`, for example `math@2`. A change that can alter learning results raises the version.
 */
export type VersionedId = `${string}@${number}`;

/** Name of a role in the definition of an environment, for example `doctor`. */
export type RoleId = string;

/** Agent of an episode: its role, or `role#n` with n from 1 for one of several in a role with `many`, for example `browser#2`. */
export type AgentId = string;

/** Role of a single-agent environment, and the id of its agent. */
export const SINGLE_AGENT: RoleId = "agent";

/** `split/index`, for example `train/17`; the index begins at 0. */
export type TaskId = string;

/** Returns the role of an agent: `browser` for `browser#2`. */
export function roleOf(agent: AgentId): RoleId {
  return agent.split("#", 1)[0] as RoleId;
}

const VERSIONED_ID = /^([a-z][a-z0-9-]*)@([1-9][0-9]*)$/;

/** Splits `math@2` into name and version. Returns `undefined` for a string of another form. */
export function parseVersionedId(id: string): { name: string; version: number } | undefined {
  const match = VERSIONED_ID.exec(id);
  return match ? { name: match[1] as string, version: Number(match[2]) } : undefined;
}
