import { characterTokenizerFiles, chatRenderer, definePlugin, randomStream } from "@mrlm/kit";
import { LocalHost, PluginHost, RolloutRunner, silentLogger } from "@mrlm/runtime";
import type { AlgorithmContext, AlgorithmDefinition, Engine, EnvironmentDefinition, IterationReport, JsonObject, JsonValue, ModelId, RolloutSampling } from "@mrlm/spec";

/** A tokenizer of a few letters, as files of a model directory. */
export const tokenizerFiles = characterTokenizerFiles({ alphabet: "abcd0123456789" });

export const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [] });

/** A model small enough for autograd in seconds, and random enough for every part of it to show. */
export const tinyConfig = {
  model_type: "qwen2",
  vocab_size: renderer.vocabSize,
  eos_token_id: renderer.stopTokenIds[0],
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 128,
  tie_word_embeddings: true,
  initializer_range: 0.2,
};

/** A stage to run on its own. */
export interface Stage {
  readonly engine: Engine;
  readonly policy: ModelId;
  readonly algorithm: AlgorithmDefinition<any>;
  readonly options: JsonObject;
  readonly environment: EnvironmentDefinition;
  readonly sampling?: Partial<RolloutSampling>;
  readonly rows?: readonly JsonValue[];
}

/** Runs one algorithm over an engine, without configuration, checkpoints or evaluation. */
export async function runStage({ engine, policy, algorithm, options, environment, sampling = {}, rows = [] }: Stage): Promise<IterationReport[]> {
  const host = new LocalHost({ source: await PluginHost.of([definePlugin({ name: "test", environments: [environment] })]) });
  const ref = { id: environment.id };
  const { splits, orderedSplits } = await host.describe(ref);
  let reference: Promise<ModelId> | undefined;
  const context: AlgorithmContext = {
    engine,
    policy,
    reference: () => (reference ??= makeReference(engine, policy)),
    renderer,
    rollouts: new RolloutRunner({
      host,
      engine,
      runSeed: 0,
      isDeterministic: true,
      concurrency: 64,
      reconnection: { patienceMs: 1000, firstDelayMs: 10 },
      logger: silentLogger,
      renderer: () => renderer,
      tokenLimit: () => 128,
      turnLimit: () => 0,
    }),
    sampling: { temperature: 1, maxTokens: 8, ...sampling },
    environments: [{ ref, weight: 1, splits, orderedSplits, demonstrate: (tasks) => host.demonstrate(ref, tasks) }],
    rows: async () => rows,
    logger: silentLogger,
    random: (name) => randomStream(name, 0),
    seed: 0,
    signal: new AbortController().signal,
  };
  const parsed = await algorithm.options["~standard"].validate(options);
  if (parsed.issues !== undefined) throw new Error(JSON.stringify(parsed.issues));
  await engine.publish(policy);
  const run = await algorithm.create(context, parsed.value);
  const reports: IterationReport[] = [];
  for await (const report of run.run()) reports.push(report);
  return reports;
}

async function makeReference(engine: Engine, policy: ModelId): Promise<ModelId> {
  const model = `${policy}-reference`;
  await engine.createModel({ model, role: "reference", source: { kind: "copy", of: policy }, trainable: false });
  return model;
}
