import { hash64 } from "@mrlm/kit/service";
import type {
  AgentId,
  JsonValue,
  ModelId,
  Observation,
  RoleId,
  RolloutSampling,
  StepResult,
  TaskId,
  Trajectory,
} from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef, PlayedBy, RewardSharing } from "@mrlm/spec/host";
import type { ActingPlayer } from "./assign-players.ts";

/** Identity of an episode in its run. Only this and the run's seed determine its randomness. */
export interface EpisodeIdentity {
  readonly runSeed: number;
  readonly label: string;
  readonly environment: string;
  readonly task: TaskId;
  /** Number of earlier groups of the same task in the same request. */
  readonly occurrence: number;
  readonly member: number;
  /** Name of a branch among those of the episode; absent for the episode itself. */
  readonly branch?: string;
}

/** Start of a branch: the state of an episode before one of its turns. */
export interface BranchStart {
  readonly of: Trajectory;
  /** Index of the first turn that is not repeated. */
  readonly turn: number;
}

/** Observation and results of an environment in an episode, with its state after each step but the last. */
export interface EpisodeStates {
  first?: Observation;
  readonly steps: { readonly result: StepResult; readonly snapshot: JsonValue | undefined }[];
}

/** Episode to play. */
export interface EpisodePlan {
  readonly identity: EpisodeIdentity;
  readonly id: string;
  readonly group: string;
  /** Order of submission within the request. */
  readonly order: number;
  readonly environment: EnvironmentRef;
  readonly description: EnvironmentDescription;
  /** Seed of the environment; `null` if it takes none. */
  readonly seed: number | null;
  /** Sampling of a model; by default that of models without their own. */
  sampling(model?: ModelId): RolloutSampling;
  /** Turn limit; 0: only the environment's own. */
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  /** Player that acts for each role, the same in all members of the group. */
  readonly acting: Readonly<Record<RoleId, ActingPlayer>>;
  /** Record of the player of each role. */
  readonly players: Readonly<Record<RoleId, PlayedBy>>;
  readonly rewardSharing: RewardSharing;
  /** Set for a branch of an episode. */
  readonly branch?: BranchStart;
  /** States of the episode, in which its branches begin; absent where they repeat its actions. */
  readonly states?: EpisodeStates;
  /** Largest number of tokens of a segment under this model. */
  tokenLimit(model: ModelId): number;
}

/** Returns the id of a group: `label/math@2/train/3`, with the occurrence if there are several. */
export function groupId({ label, environment, task, occurrence }: Omit<EpisodeIdentity, "member">): string {
  return `${label}/${environment}/${task}${occurrence > 0 ? `#${occurrence}` : ""}`;
}

/** Returns the environment's seed, 32 bits. All members of a group share it. */
export function environmentSeed(identity: EpisodeIdentity): number {
  return Number(hash64(`environment/${identity.runSeed}/${groupId(identity)}`) >> 32n);
}

/** Returns the key of the random stream that samples one turn, 64 bits. */
export function samplingKey(identity: EpisodeIdentity, turn: number): bigint {
  const { runSeed, member, branch } = identity;
  const episode = branch === undefined ? member : `${member}/branch/${branch}`;
  return hash64(`sampling/${runSeed}/${groupId(identity)}/${episode}/${turn}`);
}

/** Returns the seed of a scripted policy, 32 bits. A branch has that of its episode: its scripts repeat their actions. */
export function scriptedSeed(identity: EpisodeIdentity, agent: AgentId): number {
  return Number(hash64(`scripted/${identity.runSeed}/${groupId(identity)}/${identity.member}/${agent}`) >> 32n);
}
