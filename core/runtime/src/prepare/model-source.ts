import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { characterTokenizerFiles, loadTokenizer } from "@mrlm/kit/renderer";
import { defined, fileFault, type JsonObject, MrlmError, type PolicyId } from "@mrlm/spec";
import type { CreateModelOptions, LoraOptions, ModelSource } from "@mrlm/spec/host";
import { assertModelDirectory } from "../run/model-directory.ts";
import { TOKENIZER_FILES } from "../run/directory-renderer.ts";
import { isRemote } from "../config/engines.ts";
import { trainedPolicy } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedModel } from "../config/resolve-config.ts";

/**
 * Returns the options with which the engine creates a policy. Throws if files of its model are missing or of the wrong kind.
 * @param name default: the first policy
 */
export function policyOptions(config: ResolvedConfig, name?: PolicyId): CreateModelOptions {
  const { policy, model } = trainedPolicy(config, name);
  const isElsewhere = isRemote(config, policy);
  const { lora } = model;
  return {
    model: policy,
    role: "policy",
    source: modelSource(model, isElsewhere),
    trainable: true,
    dtype: model.dtype,
    ...(lora === undefined ? {} : { lora: loraOptions(lora, config.seed, isElsewhere) }),
    ...defined({
      float32Head: model.float32_head,
      gradientCheckpointing: model.gradient_checkpointing,
      microBatchTokens: model.micro_batch_tokens,
    }),
  };
}

function loraOptions(
  { target_modules, ...lora }: NonNullable<ResolvedModel["lora"]>,
  seed: number,
  isElsewhere: boolean,
): LoraOptions {
  // A remote engine reads its own disk.
  if (lora.path !== undefined && !isElsewhere) checkAdapterDirectory(lora.path);
  return { ...lora, seed, ...defined({ targetModules: target_modules }) };
}

function modelSource(model: ResolvedModel, isElsewhere: boolean): ModelSource {
  if (model.path !== undefined) {
    // A remote engine reads its own disk.
    if (!isElsewhere) assertModelDirectory(model.path);
    return { kind: "directory", path: model.path };
  }
  if (model.random === undefined)
    throw new MrlmError("CONFIG_INVALID", "The configuration's model has neither a path nor random weights.");
  const { config, tokenizer, seed } = model.random;
  const tokenizerFiles =
    typeof tokenizer === "string" ? readTokenizer(tokenizer) : characterTokenizerFiles(tokenizer.characters);
  return {
    kind: "random",
    config: { ...tokenizerConfig(tokenizerFiles), ...(typeof config === "string" ? readConfig(config) : config) },
    seed,
    tokenizerFiles,
  };
}

/** Returns the tokenizer fields of a Hugging Face configuration, from the tokenizer's files. A configuration may omit them. */
function tokenizerConfig(files: Readonly<Record<string, Uint8Array>>): JsonObject {
  const tokenizer = loadTokenizer(files);
  const idOf = (name: string): JsonObject => {
    const token = tokenizer.config[name];
    const id = typeof token === "string" ? tokenizer.idOf(token) : undefined;
    return id === undefined ? {} : { [`${name}_id`]: id };
  };
  return { vocab_size: tokenizer.vocabSize, ...idOf("bos_token"), ...idOf("eos_token"), ...idOf("pad_token") };
}

function checkAdapterDirectory(path: string): void {
  const hint = "Name a directory with a LoRA adapter of peft, or a run with `model.lora`, in `model.lora.path`.";
  if (!existsSync(path) || !statSync(path).isDirectory())
    throw new MrlmError("MODEL_DIRECTORY_MISSING", `There is no adapter directory ${path}.`, { hint });
  const lacking = ["adapter_config.json", "adapter_model.safetensors"].filter((name) => !existsSync(join(path, name)));
  if (lacking.length > 0)
    throw new MrlmError(
      "MODEL_DIRECTORY_INVALID",
      `${path} is not a LoRA adapter: it lacks ${lacking.join(" and ")}.`,
      { hint },
    );
}

/** Reads a Hugging Face configuration from a file or a directory. Throws MODEL_DIRECTORY_INVALID. */
export function readConfig(path: string): JsonObject {
  const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "config.json") : path;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as JsonObject;
  } catch (error) {
    throw new MrlmError(
      "MODEL_DIRECTORY_INVALID",
      `The model configuration ${file} cannot be read: ${fileFault(error)}.`,
      {
        hint: "Check `model.random.config`.",
        cause: error,
      },
    );
  }
}

function readTokenizer(directory: string): Record<string, Uint8Array> {
  const found = TOKENIZER_FILES.filter((name) => existsSync(join(directory, name)));
  if (!found.includes("tokenizer.json"))
    throw new MrlmError("TOKENIZER_INVALID", `There is no tokenizer.json in ${directory}.`, {
      hint: "Check `model.random.tokenizer`: it is `characters` or a directory with tokenizer files.",
    });
  return Object.fromEntries(found.map((name) => [name, new Uint8Array(readFileSync(join(directory, name)))]));
}
