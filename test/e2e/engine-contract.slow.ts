import { afterAll, beforeAll, describe } from "@jest/globals";
import type { CreateModelOptions, Engine } from "@mrlm/spec/host";
import { engineContract } from "@mrlm/testing";
import { installed, startEngine } from "./support/real-engine.ts";

const model: CreateModelOptions = {
  model: "policy",
  role: "policy",
  trainable: true,
  valueHead: true,
  dtype: "float32",
  source: {
    kind: "random",
    seed: 1,
    tokenizerFiles: {},
    config: {
      model_type: "qwen2",
      vocab_size: 8,
      hidden_size: 16,
      intermediate_size: 32,
      num_hidden_layers: 2,
      num_attention_heads: 2,
      num_key_value_heads: 1,
      max_position_embeddings: 64,
      initializer_range: 0.3,
      tie_word_embeddings: true,
      eos_token_id: 0,
    },
  },
};

// Skipped where the engine's Python environment is not installed (npm run setup).
(installed === undefined ? describe.skip : describe)("the PyTorch engine", () => {
  let engine: Engine;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ engine, stop } = await startEngine());
  }, 120_000);
  afterAll(() => stop());

  const subject = {
    make: async () => engine,
    dispose: async () => {
      for (const held of (await engine.describe()).models) await engine.releaseModel(held.model);
    },
  };
  engineContract({ ...subject, name: "an engine over gRPC", model });

  // Log-probabilities up to 5 are rounded to 8 bits in some 20 places.
  engineContract({
    ...subject,
    name: "an engine over gRPC in bfloat16",
    model: { ...model, dtype: "bfloat16" },
    tolerance: 0.2,
    parts: ["sampling"],
  });
});
