import { randomStream, silentLogger } from "@mrlm/kit";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { RolloutRunner } from "@mrlm/runtime";
import type {
  AlgorithmContext,
  AlgorithmDefinition,
  Engine,
  EnvironmentHost,
  EnvironmentRef,
  IterationReport,
  JsonObject,
  JsonValue,
  ModelId,
  Renderer,
  RolloutSampling,
} from "@mrlm/spec";

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
}

/** Returns the context of an algorithm, without configuration, checkpoints or evaluation. */
export async function contextOf(place: Place): Promise<AlgorithmContext> {
  const { engine, policy, host, environment, renderer, seed = 0, sampling = {}, rows = [] } = place;
  const { splits, orderedSplits, hasDemonstrations } = await host.describe(environment);
  let reference: Promise<ModelId> | undefined;
  return {
    engine,
    policy,
    reference: () => (reference ??= makeReference(engine, policy)),
    renderer,
    rollouts: new RolloutRunner({
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
    }),
    sampling: { temperature: 1, maxTokens: 8, ...sampling },
    environments: [
      {
        ref: environment,
        weight: 1,
        splits,
        orderedSplits,
        hasDemonstrations,
        demonstrate: (tasks) => host.demonstrate(environment, tasks),
      },
    ],
    rows: async () => rows,
    logger: silentLogger,
    random: (name) => randomStream(name, seed),
    seed,
    signal: new AbortController().signal,
  };
}

/** Returns the iterations of one algorithm. */
export async function* iterate(
  context: AlgorithmContext,
  algorithm: AlgorithmDefinition<any>,
  options: JsonObject,
): AsyncGenerator<IterationReport> {
  const parsed = await algorithm.options["~standard"].validate(options);
  if (parsed.issues !== undefined) throw new Error(JSON.stringify(parsed.issues));
  await context.engine.publish(context.policy);
  const run = await algorithm.create(context, parsed.value);
  yield* run.run();
}

/** Runs one algorithm to its end. */
export async function runStage(
  place: Place,
  algorithm: AlgorithmDefinition<any>,
  options: JsonObject,
): Promise<IterationReport[]> {
  const reports: IterationReport[] = [];
  for await (const report of iterate(await contextOf(place), algorithm, options)) reports.push(report);
  return reports;
}

async function makeReference(engine: Engine, policy: ModelId): Promise<ModelId> {
  const model = `${policy}-reference`;
  await engine.createModel({ model, role: "reference", source: { kind: "copy", of: policy }, trainable: false });
  return model;
}
