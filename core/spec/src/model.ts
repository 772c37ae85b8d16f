/** Names a model that an engine holds: `policy`, `critic`, `reference`, ... */
export type ModelId = string;

/** What a model is for. */
export type ModelRole = "policy" | "critic" | "reference" | "reward";

/** Where a model comes from. */
export type ModelSource =
  /** A Hugging Face directory on the engine's machine. */
  | { readonly kind: "directory"; readonly path: string }
  /** A Hugging Face configuration and a seed, with tokenizer files to keep beside the model. */
  | {
      readonly kind: "random";
      readonly config: Readonly<Record<string, unknown>>;
      readonly seed: number;
      readonly tokenizerFiles: Readonly<Record<string, Uint8Array>>;
    }
  /** A copy of another model's present weights, frozen or trainable. A trainable one learns what its original learns: all weights, or the adapter. */
  | { readonly kind: "copy"; readonly of: ModelId }
  /** Another model with its adapter switched off. */
  | { readonly kind: "adapter-off"; readonly of: ModelId };

/** Low-rank adapters (arXiv 2106.09685): new ones with `rank` and `alpha`, or those of `path`. */
export interface LoraOptions {
  /** Directory of a saved adapter on the engine's machine, as peft writes it. Training continues from it; other options must be equal to its own. */
  readonly path?: string;
  readonly rank?: number;
  /** Adapters are scaled by alpha / rank. */
  readonly alpha?: number;
  /** Chance of an adapter's input to be dropped while it learns; 0 unless given. */
  readonly dropout?: number;
  /** Names of modules or their ends; every linear layer but the head unless given. */
  readonly targetModules?: readonly string[];
  readonly seed?: number;
}

/** Of the weights; `auto`: float32 on a CPU, bfloat16 where the GPU has it. */
export type DType = "auto" | "float32" | "bfloat16" | "float16";

/** How to make a model. */
export interface CreateModelOptions {
  readonly model: ModelId;
  readonly role: ModelRole;
  readonly source: ModelSource;
  /** A frozen model holds no optimiser state and cannot learn. */
  readonly trainable: boolean;
  readonly lora?: LoraOptions;
  /** `auto` unless given. */
  readonly dtype?: DType;
  /** Computes the language-model head in float32 whatever the dtype. */
  readonly float32Head?: boolean;
  /** Adds a head for values, zero at first, on this model's trunk. */
  readonly valueHead?: boolean;
  /** Computes activations a second time instead of keeping them: less memory, more time. */
  readonly gradientCheckpointing?: boolean;
  /** Most tokens in one micro-batch; the engine's own choice unless given. */
  readonly microBatchTokens?: number;
}

/** What an engine says of a model. */
export interface ModelInfo {
  readonly model: ModelId;
  readonly role: ModelRole;
  readonly architecture: string;
  readonly parameters: number;
  readonly trainableParameters: number;
  readonly vocabSize: number;
  /** Longest sequence in tokens; `Infinity` where the architecture has no limit. */
  readonly maxPositions: number;
  readonly eosTokenIds: readonly number[];
  readonly padTokenId: number | null;
  readonly dtype: string;
  /** Optimiser steps that were applied. */
  readonly step: number;
  /** Of the weights that the sampler holds now. */
  readonly version: number;
  readonly hasValueHead: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

/** A model just made, with the tokenizer files that came with it. */
export interface CreatedModel {
  readonly info: ModelInfo;
  readonly tokenizerFiles: Readonly<Record<string, Uint8Array>>;
}
