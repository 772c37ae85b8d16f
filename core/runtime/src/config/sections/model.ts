import { TOOL_FORMAT_NAMES } from "@mrlm/kit/renderer";
import { z } from "zod";
import { modelPath, pluginOptions, relativePath, textOr } from "./values.ts";
import { ownSampling } from "./stages.ts";

const tokenizer = z.union([
  z.string().transform((given) => (given === "characters" ? { characters: {} } : relativePath(given))),
  z.strictObject({
    characters: z.strictObject({
      alphabet: z
        .string()
        .min(1)
        .optional()
        .describe("Characters that have one token each; default: printable ASCII and the newline"),
      tags: z
        .array(z.string().min(1))
        .optional()
        .describe("Texts that are one token each; default: `<answer>` and `</answer>`"),
    }),
  }),
]);

const lora = z
  .strictObject({
    path: z
      .string()
      .transform(modelPath)
      .optional()
      .describe(
        "Continue from a saved adapter: a peft directory, a run or one of its checkpoints, relative to the config, or `hub:ORG/NAME`. Its rank, alpha and target modules are used",
      ),
    rank: z.int().positive().optional().describe("Rank of each adapter; required without `path`"),
    alpha: z
      .number()
      .positive()
      .optional()
      .describe("An adapter's output is scaled by alpha / rank; required without `path`"),
    dropout: z
      .number()
      .refine(
        (dropout) => dropout === 0,
        "must be 0: the engine trains without dropout, so that a sample's ratio starts at 1",
      )
      .optional()
      .describe("0: the engine trains without dropout, so that a sample's ratio starts at 1"),
    target_modules: z
      .array(z.string())
      .min(1)
      .optional()
      .describe("Names of the linear layers that have an adapter; default: all but the head, which cannot have one"),
  })
  .refine(
    ({ path, rank, alpha }) => path !== undefined || (rank !== undefined && alpha !== undefined),
    "needs rank and alpha, or the path of a saved adapter",
  );

/** `model`: the model to train. */
export const modelSection = z.strictObject({
  path: z
    .string()
    .transform(modelPath)
    .optional()
    .describe(
      "Hugging Face directory (config.json, safetensors, tokenizer.json), a run or one of its checkpoints, relative to the config",
    ),
  hub: z
    .string()
    .regex(/^[\w.-]+\/[\w.-]+$/, "must be ORG/NAME, the name of a model of the Hugging Face Hub")
    .optional()
    .describe(
      "`ORG/NAME` of the Hugging Face Hub instead of a directory. It is fetched once, into the cache of the hub",
    ),
  revision: z
    .string()
    .regex(/^[^\s@]+$/, "must be a branch, a tag or a commit")
    .optional()
    .describe("Branch, tag or commit of `hub`; default: `main`"),
  gguf: z
    .string()
    .regex(/\.gguf$/, "must be a file whose name ends in .gguf")
    .transform(relativePath)
    .optional()
    .describe("GGUF file instead of a directory, relative to the config. It is converted once, into the cache of mrlm"),
  random: z
    .strictObject({
      config: z
        .union([z.string().transform(relativePath), pluginOptions])
        .describe("Hugging Face configuration, inline or the path of a config.json"),
      tokenizer: tokenizer
        .prefault("characters")
        .describe(
          "`characters` (a token for each character), `{ characters: { alphabet, tags } }`, or a directory with tokenizer files",
        ),
      seed: z.int().nonnegative().optional().describe("Seed of the weights; default: the run's seed"),
    })
    .optional()
    .describe("Random weights instead of a directory"),
  dtype: z
    .enum(["auto", "float32", "bfloat16", "float16"])
    .default("auto")
    .describe("Type of the weights; `auto`: float32 on a CPU, bfloat16 on a GPU that supports it"),
  lora: lora.optional().describe("Train low-rank adapters instead of all weights"),
  tool_format: z
    .enum(TOOL_FORMAT_NAMES)
    .optional()
    .describe(
      "Form in which the model writes calls of tools; default: that of its chat template and its special tokens. A template without tools then has them in its system message",
    ),
  merge_messages: z
    .boolean()
    .optional()
    .describe(
      "For a chat template that refuses them: put a system message into the next message of the user, and join messages of the user that follow one another",
    ),
  float32_head: z.boolean().optional().describe("Compute logits in float32, whatever the dtype is"),
  gradient_checkpointing: z.boolean().optional().describe("Recompute activations instead of keeping them"),
  micro_batch_tokens: z
    .int()
    .positive()
    .optional()
    .describe(
      "Tokens of one forward and backward pass; it changes speed, memory and the last bits of the gradient. Lowered to a power of two if memory is short",
    ),
});

/** Entry of `policies`. */
export const policySection = modelSection.extend({
  sampling: ownSampling.optional().describe("Replaces keys of the run's and of a stage's `sampling` for this policy"),
});

const { dtype, tool_format, merge_messages, float32_head } = modelSection.shape;

/** Entry of `models`: a model that `mrlm eval` measures, as a text in the form of `--model`, or with options. */
export const measuredModel = textOr(
  z.strictObject({
    model: z
      .string()
      .min(1)
      .transform((given) => (given.startsWith("openai:") ? given : modelPath(given)))
      .describe("As `--model`; a path is relative to the config"),
    policy: z.string().min(1).optional().describe("One of several policies that the run in `model` trains"),
    base_url: z.string().min(1).optional().describe("Address of the API of `openai:NAME`, as `--base-url`"),
    options: pluginOptions.optional().describe("Options of `openai:NAME`, as `--model-options`"),
    ...{ dtype, tool_format, merge_messages, float32_head },
    sampling: ownSampling.optional().describe("Replaces keys of `sampling` for this model"),
  }),
  z.string().min(1),
  (model) => ({ model }),
);
