import { chatRenderer } from "@mrlm/kit/renderer";
import { MrlmError, type Renderer } from "@mrlm/spec";
import type { ModelInfo } from "@mrlm/spec/host";
import { type RenderingKeys, renderingOf } from "../config/rendering-keys.ts";

/** Model in the engine, with the renderer of its own tokenizer. */
export interface LoadedModel {
  readonly info: ModelInfo;
  readonly renderer: Renderer;
}

/** Creates the renderer of a model. Throws TOKENIZER_INVALID for a tokenizer with more tokens than the model. */
export function loadedModel(
  tokenizerFiles: Readonly<Record<string, Uint8Array>>,
  info: ModelInfo,
  keys: RenderingKeys = {},
): LoadedModel {
  const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: info.eosTokenIds, ...renderingOf(keys) });
  if (renderer.vocabSize <= info.vocabSize) return { info, renderer };
  throw new MrlmError(
    "TOKENIZER_INVALID",
    `The tokenizer of the model "${info.model}" has ${renderer.vocabSize} tokens and the model ${info.vocabSize}: prompts could hold tokens that the model lacks.`,
    { hint: "Set vocab_size in the model's configuration to the tokenizer's size or more." },
  );
}

/** Returns a model that plays. Throws MODEL_NOT_FOUND. */
export function playingModel(models: ReadonlyMap<string, LoadedModel>, model: string): LoadedModel {
  const found = models.get(model);
  if (found === undefined)
    throw new MrlmError("MODEL_NOT_FOUND", `The model "${model}" does not play in this run.`, {
      hint: `Models that play: ${[...models.keys()].join(", ")}.`,
    });
  return found;
}
