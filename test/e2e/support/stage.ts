import { join } from "node:path";
import { randomStream } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { StagePlay, learningEngine, RolloutRunner } from "@mrlm/runtime";
import type {
  AlgorithmContext,
  AlgorithmDefinition,
  IterationReport,
  JsonObject,
  JsonValue,
  ModelId,
  Renderer,
  RolloutSampling,
  TrainingEnvironment,
  TrajectoryGroup,
} from "@mrlm/spec";
import type { Engine, EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import { temporaryDirectory } from "./real-engine.ts";

/** A tokenizer of a few letters, as files of a model directory. */
export const tokenizerFiles = characterTokenizerFiles({ alphabet: "abcd0123456789" });

export const letters = chatRenderer({ tokenizerFiles, eosTokenIds: [] });

/** A model small enough for autograd in seconds, and random enough for every part of it to show. */
export const tinyConfig = {
  model_type: "qwen2",
  vocab_size: letters.vocabSize,
  eos_token_id: letters.stopTokenIds[0],
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 128,
  tie_word_embeddings: true,
  initializer_range: 0.2,
};

/** Surroundings of a stage. */
export interface Place {
  readonly engine: Engine;
  readonly policy: ModelId;
  readonly host: EnvironmentHost;
  readonly environment: EnvironmentRef;
  readonly renderer: Renderer;
  readonly seed?: number;
  readonly sampling?: Partial<RolloutSampling>;
  readonly rows?: readonly JsonValue[];
  /** Frozen model; without it the weights of the policy at the beginning. */
  readonly reference?: ModelId;
}

/** Report of an iteration, with the groups that it took. */
export interface StageReport extends IterationReport {
  readonly played: readonly TrajectoryGroup[];
}

/** Returns a runner for episodes of the policy. */
export function rolloutsOf({ engine, host, renderer, seed = 0 }: Place): RolloutRunner {
  return new RolloutRunner({
    host,
    engine,
    runSeed: seed,
    isDeterministic: true,
    concurrency: 256,
    maxWaitMs: 1000,
    logger: silentLogger,
    renderer: () => renderer,
    tokenLimit: () => 128,
    turnLimit: () => 0,
  });
}

/** Returns the iterations of one algorithm, without configuration, checkpoints or evaluation. */
export async function* iterate(
  place: Place,
  algorithm: AlgorithmDefinition<any>,
  given: JsonObject,
): AsyncGenerator<StageReport> {
  const { engine, policy, host, environment, renderer, seed = 0, rows = [] } = place;
  const options = await algorithm.options["~standard"].validate(given);
  if (options.issues !== undefined) throw new Error(JSON.stringify(options.issues));
  const { splits, orderedSplits, hasDemonstrations, determinism } = await host.describe(environment);
  const demonstrate: TrainingEnvironment["demonstrate"] = (tasks) => host.demonstrate(environment, tasks);
  const facts = { splits, orderedSplits, hasDemonstrations, determinism, demonstrate };
  const environments = [{ ref: environment, weight: 1, ...facts }];
  const sampling = { temperature: 1, maxTokens: 8, ...place.sampling };
  const { signal } = new AbortController();
  const path = join(temporaryDirectory(), "episodes.sqlite");
  const store = await openLocalStore({ path, run: algorithm.id, purpose: "train", endsLeases: true });
  let iteration = 1;
  const learner = new StagePlay({
    algorithms: { [policy]: algorithm.id },
    plan: algorithm.plays?.(options.value, sampling),
    stage: 0,
    stageName: algorithm.id,
    sampling,
    environments,
    seed,
    cohorts: 1,
    iterations: 100,
    mode: { mode: "sync", lag: 0 },
    concurrency: 256,
    rollouts: rolloutsOf(place),
    store,
    progress: () => ({ iteration, runStep: iteration }),
    publish: async () => {
      const { version, checksum } = await engine.publish(policy);
      return { versions: { [policy]: version }, checksum };
    },
    signal,
  });
  let reference = place.reference === undefined ? undefined : Promise.resolve(place.reference);
  const context: AlgorithmContext = {
    engine: learningEngine(engine),
    policy,
    reference: () => (reference ??= makeReference(engine, policy)),
    renderer,
    episodes: learner.source(policy),
    sampling,
    environments,
    rows: async () => rows,
    logger: silentLogger,
    random: (name) => randomStream(name, seed),
    seed,
    signal,
  };
  const run = await algorithm.create(context, options.value);
  try {
    for await (const report of run.run()) {
      yield { ...report, played: learner.lap()?.played ?? [] };
      iteration++;
    }
  } finally {
    await store.close();
  }
}

/** Runs one algorithm to its end. */
export function runStage(
  place: Place,
  algorithm: AlgorithmDefinition<any>,
  options: JsonObject,
): Promise<StageReport[]> {
  return Array.fromAsync(iterate(place, algorithm, options));
}

async function makeReference(engine: Engine, policy: ModelId): Promise<ModelId> {
  const model = `${policy}-reference`;
  await engine.createModel({ model, role: "reference", source: { kind: "copy", of: policy }, trainable: false });
  return model;
}
