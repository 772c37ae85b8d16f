import { z } from "zod";
import { withoutEffect } from "./without-effect.ts";

const DIRECTORY = "a model is one local directory";
const DEVICE = "the device is chosen by `engine.device`";
const SEARCH = "episodes are sampled, never searched";

/** Sampling keys of the legacy `model`. */
const generation = {
  max_new_tokens: z.int().positive().optional().describe("Legacy name of `sampling.max_tokens`"),
  temperature: z.number().nonnegative().optional().describe("Legacy place of `sampling.temperature`"),
  top_p: withoutEffect("training needs samples of the whole distribution; set `sampling.top_p` to evaluate with it"),
  top_k: withoutEffect("training needs samples of the whole distribution; set `sampling.top_k` to evaluate with it"),
  do_sample: z.boolean().optional().describe("`false`: temperature 0"),
  num_beams: withoutEffect(SEARCH),
  repetition_penalty: withoutEffect("it would sample from another distribution than the one that is trained"),
  length_penalty: withoutEffect(SEARCH),
};

/** Keys of `model` in the legacy form. */
export const legacyModelKeys = {
  model_name_or_path: z.string().optional().describe("Legacy name of `path`"),
  torch_dtype: z.enum(["auto", "float32", "bfloat16", "float16"]).optional().describe("Legacy name of `dtype`"),
  ...generation,
  generation: z.strictObject(generation).optional(),
  use_lora: z.boolean().optional().describe("With lora_r and lora_alpha, the legacy form of `lora`"),
  lora_r: z.int().positive().optional(),
  lora_alpha: z.number().positive().optional(),
  lora_dropout: withoutEffect("the engine trains without dropout, so that a sample's ratio starts at 1"),
  lora_target_modules: z.array(z.string()).nullish(),
  model_type: z.literal("causal_lm").optional().describe("Causal language models only"),
  tokenizer_name_or_path: withoutEffect(DIRECTORY),
  trust_remote_code: withoutEffect("code that comes with a model never runs"),
  use_flash_attention: withoutEffect("the engine chooses the attention kernel"),
  load_in_8bit: withoutEffect("weights are not quantised"),
  load_in_4bit: withoutEffect("weights are not quantised"),
  device: withoutEffect(DEVICE),
  device_map: withoutEffect(DEVICE),
};
