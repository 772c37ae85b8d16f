import type { JsonObject } from "@mrlm/spec";
import { Chance } from "./chance.ts";
import { drawStage, type Kind } from "./draw-stages.ts";
import type { Place, Strategy } from "./place.ts";

/** A configuration to try. */
export interface Drawn {
  readonly name: string;
  readonly config: JsonObject;
  readonly strategy: Strategy;
  /** Random numbers for the choices of the checks. */
  readonly chance: Chance;
}

const ORDERS: readonly (readonly Kind[])[] = [
  ["sft"],
  ["grpo"],
  ["grpo"],
  ["grpo"],
  ["ppo"],
  ["ppo"],
  ["dpo"],
  ["dpo"],
  ["sft", "ppo"],
  ["sft", "grpo"],
  ["sft", "dpo"],
  ["dpo", "grpo"],
  ["grpo", "ppo"],
  ["sft", "ppo", "dpo"],
  ["ppo", "ppo"],
  ["dpo", "dpo"],
];

/** Returns a valid configuration of a few seconds. */
export function draw(name: string, place: Place): Drawn {
  const chance = new Chance(name);
  const environments = drawEnvironments(chance, place);
  const model = drawModel(chance, place);
  const maxTokens = chance.integer(3, 9);
  const kinds = chance.pick(ORDERS);
  const stagePlace = {
    data: place.data,
    model: place.model,
    maxTokens,
    hasDemonstrations: environments.every(({ id }) => id !== "reverse@1"),
  };
  const stages = kinds
    .map((kind) => drawStage(kind, chance, stagePlace))
    .map((stage) => ({
      ...stage,
      ...(("batch_size" in stage && !("prompts" in stage)) || chance.of(0.8)
        ? {}
        : { sampling: { temperature: chance.pick([0.8, 1.2]) } }),
      ...(chance.of(0.9)
        ? {}
        : { until: { accuracy: chance.pick([0.01, 1]), ...chance.maybe(0.5, "every", [1, 2]), tasks: 2 } }),
    }));
  const config: JsonObject = {
    name: "fuzz",
    seed: chance.integer(0, 1000),
    model,
    environments,
    sampling: {
      ...chance.maybe(0.5, "temperature", [0.7, 1, 1.5]),
      max_tokens: maxTokens,
      ...chance.maybe(0.1, "ignore_stop", [true]),
      ...chance.maybe(0.15, "max_sequence_tokens", [40, 100]),
      ...chance.maybe(0.4, "concurrency", [1, 3, 64]),
    },
    stages,
    eval: chance.of(0.4)
      ? { tasks: 0 }
      : {
          may_fail: true,
          tasks: chance.integer(1, 3),
          ...chance.maybe(0.6, "samples", [0, 1, 2]),
          ...chance.maybe(0.4, "every", [1, 2]),
          ...chance.maybe(0.15, "split", ["train"]),
          ...chance.maybe(0.15, "environments", [
            [{ id: "letters" }],
            [{ id: "talk@1", max_turns: 2 }, { id: "talk@1" }],
          ]),
        },
    checkpoint: { every: chance.pick([1, 1, 1, 2, 0]), keep: 100 },
    output: { directory: place.runs, ...chance.maybe(0.1, "trajectories", [false]) },
    ...chance.maybe(0.15, "trackers", [["tensorboard"], [{ name: "tensorboard", options: {} }]]),
  };
  return { name, config, strategy: chance.of(0.9) ? "one" : chance.pick(["ddp", "fsdp"]), chance };
}

function drawModel(chance: Chance, { model, isBigram }: Place): JsonObject {
  if (isBigram)
    return {
      ...(chance.of(0.5) ? { path: model } : { random: { config: { initializer_range: 0.5 } } }),
      ...chance.maybe(0.3, "micro_batch_tokens", [1, 100, 1000]),
    };
  const source: JsonObject = chance.of(0.5)
    ? { path: model }
    : { random: { config: drawArchitecture(chance), tokenizer: "characters", ...chance.maybe(0.3, "seed", [5]) } };
  const dtype = chance.pick(["float32", "float32", "float32", "auto", "bfloat16", "float16"]);
  const isGpt2 = JSON.stringify(source).includes("gpt2");
  return {
    ...source,
    ...(dtype === "auto" ? {} : { dtype }),
    ...(chance.of(0.3)
      ? {
          lora: {
            rank: chance.integer(1, 4),
            alpha: chance.pick([1, 8]),
            ...(isGpt2 ? {} : chance.maybe(0.3, "target_modules", [["q_proj", "v_proj"], ["down_proj"]])),
          },
        }
      : {}),
    ...chance.maybe(0.2, "float32_head", [true, false]),
    ...chance.maybe(0.2, "gradient_checkpointing", [true]),
    ...chance.maybe(0.3, "micro_batch_tokens", [1, 100, 1000]),
  };
}

function drawArchitecture(chance: Chance): JsonObject {
  const model_type = chance.pick(["qwen2", "qwen2", "llama", "qwen3", "gpt2"]);
  const isTied = chance.of(0.6);
  if (model_type === "gpt2")
    return { model_type, n_embd: 16, n_layer: 1, n_head: 2, n_positions: 512, tie_word_embeddings: isTied };
  return {
    model_type,
    hidden_size: 16,
    intermediate_size: 32,
    num_hidden_layers: chance.integer(1, 2),
    num_attention_heads: 2,
    num_key_value_heads: chance.integer(1, 2),
    head_dim: 8,
    max_position_embeddings: 512,
    tie_word_embeddings: isTied,
  };
}

function drawEnvironments(chance: Chance, { withCode }: Place): JsonObject[] {
  const terse = { style: "terse", difficulty_range: 1 };
  const pool: JsonObject[] = [
    { id: "letters@1" },
    { id: "letters" },
    { id: "talk@1", ...chance.maybe(0.3, "max_turns", [1, 2]) },
    { id: "reverse@1" },
    { id: "math@2", options: { families: ["ordering"], ...terse, rewards: { format: 0.5 } } },
    {
      id: "math@2",
      options: {
        families: { ordering: 2, arithmetic: 1 },
        ...terse,
        attempts: 3,
        rewards: { format: 0.5, malformed: -0.1 },
      },
    },
    {
      id: "math",
      options: {
        ...terse,
        train_size: 6,
        eval_size: 4,
        answer_schema: "text",
        curriculum: [{ tasks: 3, difficulty_range: 2 }],
      },
    },
    ...(withCode && chance.of(0.3)
      ? [
          {
            id: "code@2",
            options: {
              families: ["arithmetic"],
              ...terse,
              attempts: 2,
              language: chance.pick(["python", "typescript"]),
              rewards: { syntax: 0.5, error: -0.2 },
            },
          },
        ]
      : []),
  ];
  const chosen = chance.some(pool, 1, chance.pick([1, 1, 2, 3]));
  const names = chosen.map(({ id }) => String(id).split("@")[0]);
  return chosen
    .filter((_, i) => names[i] !== "letters" || names.indexOf("letters") === i)
    .map((environment) => ({ ...environment, ...chance.maybe(0.3, "weight", [0.5, 3]) }));
}
