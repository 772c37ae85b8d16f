/**
 * `name@version`, for example `math@1`. A change that can move learning results raises the version.
 */
export type VersionedId = `${string}@${number}`;

/** Name of an agent within an environment. An environment for one agent uses {@link SINGLE_AGENT}. */
export type AgentId = string;

/** The agent of a single-agent environment. */
export const SINGLE_AGENT: AgentId = "agent";

/** `split/index`, for example `train/17`: one task of an environment's task source. */
export type TaskId = string;

const VERSIONED_ID = /^([a-z][a-z0-9-]*)@([1-9][0-9]*)$/;

/** Splits `math@1` into its parts; `undefined` when it is not a versioned id. */
export function parseVersionedId(id: string): { name: string; version: number } | undefined {
  const match = VERSIONED_ID.exec(id);
  return match ? { name: match[1] as string, version: Number(match[2]) } : undefined;
}
