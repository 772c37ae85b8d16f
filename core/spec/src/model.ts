/** Id of a model that an engine holds: `policy`, `critic`, `reference`, ... */
export type ModelId = string;

/** Purpose of a model in training. */
export type ModelRole = "policy" | "critic" | "reference" | "reward";

/** Source of the weights and the configuration of a model. */
export type ModelSource =
  /** A Hugging Face directory on the engine's machine. */
  | { readonly kind: "directory"; readonly path: string }
  /** Random weights by a Hugging Face configuration and a seed. The tokenizer files are saved with the model. */
  | {
      readonly kind: "random";
      readonly config: Readonly<Record<string, unknown>>;
      readonly seed: number;
      readonly tokenizerFiles: Readonly<Record<string, Uint8Array>>;
    }
  /** A copy of the current weights of another model. A trainable copy trains the same parameters as its original: all weights, or the adapter. */
  | { readonly kind: "copy"; readonly of: ModelId }
  /** The weights of another model without its adapter. */
  | { readonly kind: "adapter-off"; readonly of: ModelId };

/** Low-rank adapters (arXiv 2106.09685): new ones with `rank` and `alpha`, or those of the directory `path`. */
export interface LoraOptions {
  /** Directory of an adapter that peft saved, on the machine of the engine. Training continues from it; the other options must be equal to those of the adapter. */
  readonly path?: string;
  readonly rank?: number;
  /** Adapters are scaled by alpha / rank. */
  readonly alpha?: number;
  /** Dropout probability of the input of an adapter in training, 0 to 1; default 0. */
  readonly dropout?: number;
  /** Names of modules, or suffixes of names; default every linear layer except the head. */
  readonly targetModules?: readonly string[];
  readonly seed?: number;
}

/** Data type of the weights; `auto`: float32 on a CPU, bfloat16 on a GPU that supports it. */
export type DType = "auto" | "float32" | "bfloat16" | "float16";

/** Options of a new model. */
export interface CreateModelOptions {
  readonly model: ModelId;
  readonly role: ModelRole;
  readonly source: ModelSource;
  /** Whether the model can be trained. A frozen model has no gradients and no optimizer state. */
  readonly trainable: boolean;
  readonly lora?: LoraOptions;
  /** Default `auto`. */
  readonly dtype?: DType;
  /** Whether the language-model head computes in float32 under every `dtype`. */
  readonly float32Head?: boolean;
  /** Whether to add a value head, with zeros as its initial weights, on the backbone of this model. */
  readonly valueHead?: boolean;
  /** Whether the backward pass recomputes activations, which saves memory and takes more time. */
  readonly gradientCheckpointing?: boolean;
  /** Maximal number of tokens in a micro-batch; by default the engine chooses it. */
  readonly microBatchTokens?: number;
}

/** Description of a model that an engine holds. */
export interface ModelInfo {
  readonly model: ModelId;
  readonly role: ModelRole;
  readonly architecture: string;
  readonly parameters: number;
  readonly trainableParameters: number;
  readonly vocabSize: number;
  /** Length of the longest sequence in tokens; `Infinity` for an architecture without a limit. */
  readonly maxPositions: number;
  readonly eosTokenIds: readonly number[];
  readonly padTokenId: number | null;
  readonly dtype: string;
  /** Number of applied optimizer steps. */
  readonly step: number;
  /** Version of the weights that the sampler uses. */
  readonly version: number;
  readonly hasValueHead: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

/** New model with its tokenizer files, by name. */
export interface CreatedModel {
  readonly info: ModelInfo;
  readonly tokenizerFiles: Readonly<Record<string, Uint8Array>>;
}
