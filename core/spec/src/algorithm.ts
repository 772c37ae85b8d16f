import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Demonstration } from "./demonstration.ts";
import type { Determinism } from "./determinism.ts";
import type { LearningEngine } from "./engine.ts";
import type { EnvironmentRef } from "./environment-host.ts";
import type { TaskId, VersionedId } from "./id.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Logger } from "./logger.ts";
import type { AlgorithmMemory } from "./memory.ts";
import type { EpisodeSource, PlayPlan } from "./learning.ts";
import type { IterationReport } from "./metrics.ts";
import type { ModelId } from "./model.ts";
import type { RandomStream } from "./random.ts";
import type { Renderer } from "./renderer.ts";
import type { RolloutSampling } from "./rollout-sampling.ts";

/** Environment of a training run, with its share of the prompts. */
export interface TrainingEnvironment {
  readonly ref: EnvironmentRef;
  /** Relative share of the prompts, > 0; the weights of all environments are normalised to a sum of 1. */
  readonly weight: number;
  /** Number of tasks by split. */
  readonly splits: Readonly<Record<string, number>>;
  /** Splits whose tasks are taken in ascending order of their index; the other splits are shuffled. */
  readonly orderedSplits: readonly string[];
  /** Whether `demonstrate` is available. */
  readonly hasDemonstrations: boolean;
  readonly determinism: Determinism;
  /** Whether episodes can be played on from a snapshot, as in {@link EnvironmentDescription}. */
  readonly snapshots?: boolean;
  /** Smallest and largest sum of the rewards of an agent in an episode, where it is known. */
  readonly rewardRange?: readonly [number, number];
  /** SHA-256 by file, as in {@link EnvironmentDescription}. */
  readonly dataFiles?: Readonly<Record<string, string>>;
  /** Returns one worked solution for each task of the training split, in the same order. */
  demonstrate(tasks: readonly TaskId[]): Promise<readonly Demonstration[]>;
}

/** Everything that a run provides to an algorithm. An algorithm uses nothing else. */
export interface AlgorithmContext {
  readonly engine: LearningEngine;
  /** The trained model. It is created before the algorithm starts. The run publishes its weights where episodes need them. */
  readonly policy: ModelId;
  /** Returns the frozen reference: the policy at the start of this stage, or what `reference_model` of the configuration states. The first call creates it. */
  reference(): Promise<ModelId>;
  readonly renderer: Renderer;
  /** Batches of episodes to learn from, as `AlgorithmDefinition.plays` states them. */
  readonly episodes: EpisodeSource;
  /** Sampling parameters of the episodes: the `sampling` section of the stage, merged over that of the run. */
  readonly sampling: RolloutSampling;
  readonly environments: readonly TrainingEnvironment[];
  /** Returns the rows of a JSONL or Parquet file. A relative path starts at the configuration file. Rejects with DATA_INVALID. */
  rows(path: string): Promise<readonly JsonValue[]>;
  readonly logger: Logger;
  /** Returns the stream of this name, derived from the seed of the run. Its position is part of every checkpoint. */
  random(name: string): RandomStream;
  readonly seed: number;
  /** Aborted when the run must stop. The algorithm then ends without another report. */
  readonly signal: AbortSignal;
}

/** One algorithm in one stage of a run. */
export interface AlgorithmRun {
  /** Yields one report after each iteration. The run may write a checkpoint between two reports. */
  run(): AsyncIterable<IterationReport>;
  /** Returns the state to resume from, without the weights and the random streams, which the run saves itself. */
  state(): JsonObject;
  /** Restores a state that `state` returned. Called at most once, before `run`. */
  restore(state: JsonObject): void;
}

/** Definition of an algorithm in a plugin. */
export interface AlgorithmDefinition<Options = unknown> {
  readonly id: VersionedId;
  readonly description: string;
  readonly options: StandardSchemaV1<unknown, Options>;
  /** Number of iterations under these options, for progress bars. */
  iterations(options: Options): number;
  /** Whether the policy needs a value head. The head does not change the results of other stages. */
  needsValueHead?(options: Options): boolean;
  /**
   * Returns which episodes the iterations learn from, so that they can be played before an iteration asks for them; `undefined`, as without the method:
   * none. A stage that plays none must not set `sampling`, and one that plays needs an environment.
   * @param sampling the same as `AlgorithmContext.sampling` of the stage
   */
  plays?(options: Options, sampling: RolloutSampling): PlayPlan | undefined;
  /** Models that the algorithm creates in addition to the policy, for the memory estimate of the run; default none. */
  memory?(options: Options): AlgorithmMemory;
  /** Whether `reference_model` must name another model: the policy itself would be no teacher. */
  needsTeacher?(options: Options): boolean;
  /**
   * Checks rules that a schema cannot express, such as a group size without advantages or sampling parameters without valid gradients. Called for every
   * stage before the run starts.
   * @param sampling the same as `AlgorithmContext.sampling` of the stage
   * @throws CONFIG_INVALID
   */
  validate?(options: Options, environments: readonly TrainingEnvironment[], sampling: RolloutSampling): void;
  /** Paths that the algorithm will pass to `AlgorithmContext.rows`. The files are read before the run starts, so that a missing file is reported at once. */
  files?(options: Options): readonly string[];
  /** Checks the rows of such a file without a tokenizer: their form, and that at least one can be learnt. Throws DATA_INVALID. */
  checkRows?(options: Options, path: string, rows: readonly JsonValue[]): void;
  create(context: AlgorithmContext, options: Options): AlgorithmRun | Promise<AlgorithmRun>;
}
