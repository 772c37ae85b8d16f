import { hash64 } from "@mrlm/kit";
import type { AgentId, EnvironmentDescription, EnvironmentRef, ModelId, RolloutSampling, TaskId } from "@mrlm/spec";

/** What distinguishes an episode from every other of its run. Its randomness follows from this and from nothing else. */
export interface EpisodeIdentity {
  readonly runSeed: number;
  readonly label: string;
  readonly environment: string;
  readonly task: TaskId;
  /** How many groups of the same task came before in the same request. */
  readonly occurrence: number;
  readonly member: number;
}

/** An episode to play. */
export interface EpisodePlan {
  readonly identity: EpisodeIdentity;
  readonly id: string;
  readonly group: string;
  /** Order of submission within the request. */
  readonly order: number;
  readonly environment: EnvironmentRef;
  readonly description: EnvironmentDescription;
  /** `null` where the environment takes none. */
  readonly seed: number | null;
  readonly sampling: RolloutSampling;
  /** 0: no limit but the environment's own. */
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  modelOf(agent: AgentId): ModelId;
  /** Tokens that one segment under this model may have. */
  tokenLimit(model: ModelId): number;
}

/** `label/math@1/train/3`, with the occurrence where there is more than one. */
export function groupId({ label, environment, task, occurrence }: EpisodeIdentity): string {
  return `${label}/${environment}/${task}${occurrence > 0 ? `#${occurrence}` : ""}`;
}

/** The environment's seed: all members of a group share it. 32 bits. */
export function environmentSeed(identity: EpisodeIdentity): number {
  return Number(hash64(`environment/${identity.runSeed}/${groupId(identity)}`) >> 32n);
}

/** Key of the random stream that samples one turn. 64 bits. */
export function samplingKey(identity: EpisodeIdentity, turn: number): bigint {
  return hash64(`sampling/${identity.runSeed}/${groupId(identity)}/${identity.member}/${turn}`);
}
