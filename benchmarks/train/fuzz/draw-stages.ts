import type { JsonObject } from "@mrlm/spec";
import type { Chance } from "./chance.ts";
import type { Data } from "./place.ts";

/** Conditions under which a stage is drawn. */
export interface StagePlace {
  readonly data: Data;
  /** Directory of a model with the same tokenizer. */
  readonly model: string;
  readonly maxTokens: number;
  /** Whether every environment has demonstrations. */
  readonly hasDemonstrations: boolean;
}

export type Kind = "sft" | "grpo" | "ppo" | "dpo";

/** Returns a valid stage of an algorithm; every choice of its options has a positive probability. */
export function drawStage(kind: Kind, chance: Chance, place: StagePlace): JsonObject {
  const options = { sft: drawSft, grpo: drawGrpo, ppo: drawPpo, dpo: drawDpo }[kind](chance, place);
  const steps = "critic_warmup_steps" in options || "collect_every" in options ? 3 : chance.integer(1, 3);
  return { algorithm: chance.pick([kind, `${kind}@1`]), steps, ...options, ...drawOptimizer(chance) };
}

function drawOptimizer(chance: Chance): JsonObject {
  const schedule = chance.pick(["constant", "linear", "cosine"]);
  return {
    learning_rate: chance.pick([1e-3, 3e-3, 1e-2]),
    ...(schedule === "constant" ? {} : { lr_schedule: schedule, ...chance.maybe(0.3, "lr_floor", [1e-5, 1e-4]) }),
    ...chance.maybe(0.2, "warmup_steps", [1, 2, 5]),
    ...chance.maybe(0.2, "weight_decay", [0.01, 0.1]),
    ...chance.maybe(0.2, "max_grad_norm", [0, 0.5, 10]),
    ...chance.maybe(0.15, "adam_beta1", [0, 0.5]),
    ...chance.maybe(0.15, "adam_beta2", [0.9, 0.99]),
    ...chance.maybe(0.15, "adam_epsilon", [1e-6, 1e-4]),
  };
}

function drawSft(chance: Chance, { data, hasDemonstrations }: StagePlace): JsonObject {
  const own: JsonObject[] = hasDemonstrations ? [{ weight: 2 }, { demonstrations: 7 }] : [];
  const sources: JsonObject[] = [
    { path: data.conversations, weight: 3 },
    { path: data.collected, min_reward: 0.1 },
    { path: data.parquet, observation_weight: 0.5 },
    ...own,
  ];
  const form = chance.pick(hasDemonstrations ? ["own", "file", "several"] : ["file", "several"]);
  const weights = chance.pick<JsonObject>([
    {},
    {},
    { action_weight: 0.5, observation_weight: 1 },
    { observation_weight: 0.3 },
  ]);
  const from: Record<string, JsonObject> = {
    own: chance.maybe(0.5, "demonstrations", [3, 40]),
    file: {
      data: chance.pick([data.conversations, data.collected, data.parquet]),
      ...chance.maybe(0.3, "min_reward", [-1, 0]),
    },
    several: { data: chance.some(sources, 1, sources.length) },
  };
  return {
    batch_size: chance.pick([1, 3, 16]),
    ...from[form],
    ...weights,
    ...(chance.of(0.3)
      ? { max_length: chance.pick([20, 60]), on_overlong: chance.pick(["truncate", "skip"]) }
      : { on_overlong: chance.pick(["truncate", "skip"]) }),
    ...chance.maybe(0.4, "aggregation", ["token_mean", "sequence_mean"]),
  };
}

function drawGrpo(chance: Chance, { maxTokens }: StagePlace): JsonObject {
  const loss = chance.pick(["clip", "gspo", "cispo", "minirl"]);
  const old = chance.pick(["trainer", "trainer", "sampler"]);
  const prompts = chance.integer(1, 4);
  const kl = chance.of(0.4);
  return {
    prompts_per_step: prompts,
    group_size: chance.pick([2, 3, 4, 8]),
    ...chance.maybe(0.5, "updates_per_step", [1, 2, 3]),
    ...(prompts > 1 && chance.of(0.3) ? { minibatches: chance.integer(1, prompts) } : {}),
    ...chance.maybe(0.5, "baseline", ["group_mean", "leave_one_out"]),
    ...chance.maybe(0.7, "scale", ["none", "group_std", "batch_std"]),
    policy_loss: loss,
    ...(loss === "cispo" ? {} : chance.maybe(0.4, "clip_low", [0.0003, 0.1, 1])),
    ...(loss === "minirl"
      ? { ...chance.maybe(0.5, "minirl_epsilon_high", [0, 0.3]), ...chance.maybe(0.5, "minirl_cap", [0.5, 1, 8]) }
      : chance.maybe(0.4, "clip_high", [0.0004, 0.28, 4])),
    ...(loss === "clip" || loss === "gspo" ? chance.maybe(0.3, "dual_clip", [1.5, 3]) : {}),
    ...chance.maybe(0.7, "aggregation", ["token_mean", "sequence_mean", "constant"]),
    old_policy: old,
    ...drawMismatch(chance, old),
    ...(kl
      ? {
          kl_coefficient: chance.pick([0.001, 0.1, 2]),
          kl_estimator: chance.pick(["k1", "k2", "k3"]),
          kl_importance: chance.of(0.5),
        }
      : {}),
    ...chance.maybe(0.3, "entropy_coefficient", [0.001, 0.1]),
    ...chance.maybe(0.25, "dynamic_sampling", [1, 3]),
    ...chance.maybe(0.25, "on_length", ["keep", "mask"]),
    ...(chance.of(0.25)
      ? { overlong_buffer: chance.integer(1, maxTokens - 1), ...chance.maybe(0.5, "overlong_penalty", [0.1, 3]) }
      : {}),
    ...chance.maybe(0.2, "max_staleness", [0, 1]),
  };
}

function drawMismatch(chance: Chance, old: string): JsonObject {
  const mismatch = old === "sampler" ? "none" : chance.pick(["none", "truncate", "mask", "drop"]);
  if (mismatch === "none") return {};
  return {
    mismatch,
    ...chance.maybe(0.5, "mismatch_cap", [1.01, 5]),
    ...(mismatch === "truncate" ? {} : chance.maybe(0.3, "mismatch_floor", [0.1, 1])),
    ...(mismatch === "drop" ? {} : chance.maybe(0.3, "mismatch_level", ["token", "sequence", "geometric"])),
  };
}

function drawPpo(chance: Chance, { model }: StagePlace): JsonObject {
  const critic = chance.pick(["separate", "shared"]);
  const old = chance.pick(["trainer", "trainer", "sampler"]);
  const prompts = chance.integer(1, 5);
  const updates = chance.integer(1, 3);
  const placement = chance.pick(["reward", "loss"]);
  const onLength = chance.pick(["keep", "keep", "mask"]);
  const kl: JsonObject = {
    kl_coefficient: chance.pick([0.001, 0.1, 2]),
    kl_placement: placement,
    ...(placement === "loss"
      ? { kl_estimator: chance.pick(["k1", "k2", "k3"]) }
      : chance.maybe(0.4, "kl_clip", [0.01, 5])),
    ...(chance.of(0.5) ? { kl_target: chance.pick([0.01, 3]), ...chance.maybe(0.5, "kl_horizon", [5, 1000]) } : {}),
  };
  return {
    prompts_per_step: prompts,
    ...chance.maybe(0.5, "group_size", [1, 2, 4]),
    updates_per_step: updates,
    ...(prompts > 1 && chance.of(0.4) ? { minibatches: chance.integer(1, prompts) } : {}),
    ...chance.maybe(0.3, "clip_low", [0.01, 1]),
    ...chance.maybe(0.3, "clip_high", [0.01, 4]),
    ...chance.maybe(0.3, "dual_clip", [1.5, 3]),
    old_policy: old,
    ...drawMismatch(chance, old),
    ...chance.maybe(0.3, "entropy_coefficient", [0.001, 0.1]),
    ...chance.maybe(0.3, "gamma", [0, 0.9]),
    ...chance.maybe(0.3, "gae_lambda", [0, 1]),
    ...chance.maybe(0.3, "value_lambda", [0, 1]),
    ...chance.maybe(0.3, "whiten_advantages", [true, false]),
    ...chance.maybe(0.3, "reward_clip", [0.1, 10]),
    ...(onLength === "keep" ? chance.maybe(0.3, "cut_penalty", [0.5]) : { on_length: onLength }),
    critic,
    ...(critic === "separate"
      ? {
          ...chance.maybe(0.4, "critic_learning_rate", [1e-2]),
          ...chance.maybe(0.2, "critic_warmup_steps", [1]),
          ...chance.maybe(0.15, "critic_path", [model]),
        }
      : {}),
    ...chance.maybe(0.3, "value_coefficient", [0.1, 2]),
    ...(chance.of(0.5) ? kl : {}),
    ...(updates > 1
      ? { ...chance.maybe(0.3, "stop_kl", [1e-4, 1]), ...chance.maybe(0.3, "value_clip", [0.01, 1]) }
      : {}),
  };
}

function drawDpo(chance: Chance, { data }: StagePlace): JsonObject {
  const loss = chance.pick(["sigmoid", "sigmoid", "hinge", "ipo", "simpo", "orpo", "kto", "kto"]);
  const needsNone = loss === "simpo" || loss === "orpo";
  const isFree = !needsNone && loss !== "kto" && chance.of(0.2);
  const form = chance.pick(["pairs", "messages", "collected", "played", ...(loss === "kto" ? ["singles"] : [])]);
  const groupSize = chance.pick([4, 8]);
  const from: Record<string, JsonObject> = {
    pairs: { data: data.pairs },
    messages: { data: data.messagePairs },
    singles: { data: data.singles },
    collected: { data: chance.pick([data.collected, data.parquet]), ...chance.maybe(0.3, "pairs_per_group", [1, 2]) },
    played: {
      prompts: chance.integer(6, 10),
      group_size: groupSize,
      ...chance.maybe(0.5, "pairs_per_group", [1, groupSize / 2]),
      ...chance.maybe(0.4, "collect_every", [1, 2]),
    },
  };
  return {
    batch_size: chance.pick(loss === "kto" ? [2, 5] : [1, 2, 5]),
    loss,
    ...chance.maybe(0.6, "beta", [0.01, 0.5, 2]),
    ...(loss === "sigmoid" || loss === "simpo" ? chance.maybe(0.4, "label_smoothing", [0.1, 0.4]) : {}),
    ...(loss === "simpo" ? chance.maybe(0.5, "simpo_margin", [0, 1.5]) : {}),
    ...(loss === "kto"
      ? {
          ...chance.maybe(0.4, "kto_desirable_weight", [0, 1.33]),
          ...chance.maybe(0.4, "kto_undesirable_weight", [0.5]),
        }
      : {}),
    ...(loss === "orpo" ? {} : chance.maybe(0.3, "nll_coefficient", [0.1, 1])),
    ...(isFree ? { reference_free: true } : needsNone ? {} : chance.maybe(0.6, "reference", ["model", "precomputed"])),
    ...from[form],
  };
}
