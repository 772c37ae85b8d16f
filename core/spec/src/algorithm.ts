import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Demonstration } from "./demonstration.ts";
import type { Engine } from "./engine.ts";
import type { EnvironmentRef } from "./environment-host.ts";
import type { TaskId, VersionedId } from "./id.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Logger } from "./logger.ts";
import type { AlgorithmMemory } from "./memory.ts";
import type { IterationReport } from "./metrics.ts";
import type { ModelId } from "./model.ts";
import type { RandomStream } from "./random.ts";
import type { Renderer } from "./renderer.ts";
import type { Rollouts, RolloutSampling } from "./rollouts.ts";

/** One of the environments that a run trains on. */
export interface TrainingEnvironment {
  readonly ref: EnvironmentRef;
  /** Share of the prompts; the weights of all are normalised. */
  readonly weight: number;
  readonly splits: Readonly<Record<string, number>>;
  /** Splits whose tasks are taken in the order of their index instead of in a random one. */
  readonly orderedSplits: readonly string[];
  /** Whether `demonstrate` has anything to show. */
  readonly hasDemonstrations: boolean;
  /** As in its description. */
  readonly dataFiles?: Readonly<Record<string, string>>;
  demonstrate(tasks: readonly TaskId[]): Promise<readonly Demonstration[]>;
}

/** Everything that an algorithm reaches. */
export interface AlgorithmContext {
  readonly engine: Engine;
  /** The model that is trained; made and published before the algorithm starts. */
  readonly policy: ModelId;
  /** A frozen copy of the policy as it was at the start of this stage, made on the first call. */
  reference(): Promise<ModelId>;
  readonly renderer: Renderer;
  readonly rollouts: Rollouts;
  /** How the run samples unless the algorithm's options say otherwise: the config's `sampling`, the stage's over the run's. */
  readonly sampling: RolloutSampling;
  readonly environments: readonly TrainingEnvironment[];
  /** JSONL rows of a file named in the options, by path relative to the config. */
  rows(path: string): Promise<readonly JsonValue[]>;
  readonly logger: Logger;
  /** A stream of the run's seed, named after its purpose. Its position is saved with every checkpoint. */
  random(name: string): RandomStream;
  readonly seed: number;
  /** Aborted to stop: the algorithm finishes nothing more. */
  readonly signal: AbortSignal;
}

/** An algorithm at work. */
export interface AlgorithmRun {
  /** One report for each iteration; between two of them the run may be checkpointed. */
  run(): AsyncIterable<IterationReport>;
  /** What a continuation needs beside the engine's weights and the random streams. */
  state(): JsonObject;
  /** Called before `run`, with what `state` returned. */
  restore(state: JsonObject): void;
}

/** An algorithm as a plugin offers it. */
export interface AlgorithmDefinition<Options = unknown> {
  readonly id: VersionedId;
  readonly description: string;
  readonly options: StandardSchemaV1<unknown, Options>;
  /** Iterations under these options, for progress bars. */
  iterations(options: Options): number;
  /** Whether the policy is to be made with a value head; it has no effect on other stages. */
  needsValueHead?(options: Options): boolean;
  /** Whether it plays episodes: `sampling` of a stage that does not is refused. Without it every stage does. */
  playsEpisodes?(options: Options): boolean;
  /** What it makes beside the policy, for the estimate of a run's memory; without it the policy alone is counted. */
  memory?(options: Options): AlgorithmMemory;
  /**
   * Checks what a schema cannot: a group size that cannot give an advantage, sampling that cannot be trained on. Throws CONFIG_INVALID. Called for every
   * stage before work begins.
   * @param sampling the context's, of the stage
   */
  validate?(options: Options, environments: readonly TrainingEnvironment[], sampling: RolloutSampling): void;
  /** Data files that it will ask the context's `rows` for, as the options name them. They are read before work begins, so that none is missing later. */
  files?(options: Options): readonly string[];
  /** Checks what can be seen of such a file's rows before there is a tokenizer: their form, and that there is something to learn. Throws DATA_INVALID. */
  checkRows?(options: Options, path: string, rows: readonly JsonValue[]): void;
  create(context: AlgorithmContext, options: Options): AlgorithmRun | Promise<AlgorithmRun>;
}
