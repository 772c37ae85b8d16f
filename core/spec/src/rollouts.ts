import type { EnvironmentRef } from "./environment-host.ts";
import type { ModelId } from "./model.ts";
import type { TaskId } from "./id.ts";
import type { TrajectoryGroup } from "./trajectory.ts";

/** How a policy samples in episodes. */
export interface RolloutSampling {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Of one turn. */
  readonly maxTokens: number;
  readonly minTokens?: number;
  readonly topP?: number;
  readonly topK?: number;
  /** Never stop early (benchmarks). */
  readonly ignoreStop?: boolean;
}

/** Episodes to play. */
export interface RolloutRequest {
  readonly environment: EnvironmentRef;
  readonly tasks: readonly TaskId[];
  /** Episodes for each task. */
  readonly groupSize: number;
  /** Which model plays which agent; a plain id plays every agent. */
  readonly model: ModelId | Readonly<Record<string, ModelId>>;
  readonly sampling: RolloutSampling;
  /** Names the random streams of these episodes; the same name, seed and weights give the same episodes. */
  readonly label: string;
  /** On top of the environment's own limit. */
  readonly maxTurns?: number;
  /** Of one agent's segment, prompt included; an episode that would pass it is truncated. */
  readonly maxSequenceTokens?: number;
  readonly signal?: AbortSignal;
}

/** Plays episodes. */
export interface Rollouts {
  /** Groups in the order of `tasks` in deterministic mode, else as they are complete. A failed episode is in its group, with its error. */
  collect(request: RolloutRequest): AsyncIterable<TrajectoryGroup>;
}
