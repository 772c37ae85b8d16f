import type { MemoryEstimate, MemoryWorkload } from "./memory.ts";
import type { CreatedModel, CreateModelOptions, ModelId, ModelInfo } from "./model.ts";
import type { StopReason } from "./trajectory.ts";

/** Description of an engine: device, versions, memory and models. */
export interface EngineInfo {
  readonly device: string;
  readonly deviceName: string;
  readonly versions: { readonly torch: string; readonly transformers: string; readonly python: string };
  readonly deterministic: boolean;
  readonly threads: number;
  readonly worldSize: number;
  readonly instanceId: string;
  readonly memory: { readonly allocatedBytes: number; readonly peakBytes: number };
  /** Wall-clock seconds of computation since the start of the engine. */
  readonly computeSeconds: number;
  readonly models: readonly ModelInfo[];
}

/** Parameters of the distribution from which tokens are drawn, and of its end. */
export interface SamplingParams {
  /** ≥ 0; 0 selects the most probable token. */
  readonly temperature: number;
  readonly maxTokens: number;
  readonly minTokens?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stopTokenIds: readonly number[];
}

/** Request for one sampled sequence. */
export interface SampleRequest {
  /** Token ids, shape [prompt tokens]. */
  readonly prompt: Int32Array;
  readonly params: SamplingParams;
  /** Key of the random stream of the sequence, 64 bits, derived from (run seed, episode, turn). */
  readonly key: bigint;
}

/** Sampled sequence without its prompt. Arrays have the shape [sampled tokens]. */
export interface SampleResult {
  readonly tokens: Int32Array;
  /** Log-probability in nats of each token under the distribution from which it was drawn, at the sampling temperature. */
  readonly logprobs: Float32Array;
  /** Version of the weights that sampled each token. */
  readonly versions: Int32Array;
  readonly stopReason: StopReason;
  /** Whether top-p or top-k removed tokens from the distribution. Policy gradients from such samples are biased unless the loss removes the same tokens. */
  readonly truncatedSupport: boolean;
}

/** Tokens of a sequence in the order in which they were sampled. Arrays have the shape [new tokens]. */
export type SampledChunk = Pick<SampleResult, "tokens" | "logprobs" | "versions">;

/** Options of one sequence. */
export interface SampleOptions {
  /** Cancels the sequence. */
  readonly signal?: AbortSignal;
  /**
   * Receives the tokens as they are sampled. The chunks together are the result; the last one comes before the result. If the function throws, the sequence is
   * cancelled and `sample` rejects with that error.
   */
  onTokens?(chunk: SampledChunk): void;
}

/**
 * Open stream of sequences of one model. In deterministic mode the engine samples submitted sequences at the next `barrier()`, in throughput mode at once.
 */
export interface Sampler {
  /** Samples one sequence. A rejection concerns this sequence only. When `signal` is aborted, the tokens so far are returned with the stop reason `cancelled`. */
  sample(request: SampleRequest, options?: SampleOptions): Promise<SampleResult>;
  /** Ends a wave: all sequences since the last barrier are sampled together, in the order of submission. */
  barrier(): void;
  close(): Promise<void>;
}

/** Token ids with the positions to compute outputs for. Both arrays have the shape [tokens]; `mask[0]` is 0, because no token precedes it. */
export interface EngineSequence {
  readonly tokens: Int32Array;
  readonly mask: Uint8Array;
  /**
   * Tokens of which the outputs are the log-probabilities, k for each masked position in their order, in place of the tokens at these positions. Outputs and gradients then
   * have k numbers for each masked position.
   */
  readonly targets?: Int32Array;
}

/** Sequences that the engine computes in the same micro-batch: a DPO pair, a group with a shared prompt. */
export interface EngineUnit {
  readonly sequences: readonly EngineSequence[];
}

/** Outputs to compute. */
export interface OutputSelection {
  /** Log-probability in nats of each masked token. */
  readonly logprob?: boolean;
  /** Entropy in nats of the full distribution at the temperature. */
  readonly entropy?: boolean;
  /** Value of the state before each masked token. */
  readonly value?: boolean;
  /** Value of the state after the last token of each sequence. */
  readonly finalValue?: boolean;
  /** Number of the most likely tokens before each output, with their log-probabilities; at most the vocabulary. */
  readonly top?: number;
}

/**
 * Outputs of one unit. Arrays have the shape [masked positions of all sequences, concatenated], or k times that with targets; `finalValue` has the shape [sequences].
 */
export interface UnitOutputs {
  readonly logprob?: Float32Array;
  readonly entropy?: Float32Array;
  readonly value?: Float32Array;
  readonly finalValue?: Float32Array;
  /** `top` tokens for each output, in descending order of their log-probabilities. */
  readonly topTokens?: Int32Array;
  readonly topLogprob?: Float32Array;
}

/** Outputs of one unit for a selection: those that it selects are there. */
export type SelectedOutputs<Selection extends OutputSelection> = UnitOutputs & {
  readonly [Name in keyof Selection as Selection[Name] extends true ? Name : never]: Float32Array;
};

/** Gradient of the sum (not the mean) of the loss with respect to each output, in the shape of the output; zeros if omitted. */
export interface UnitGradients {
  readonly logprob?: Float32Array;
  readonly entropy?: Float32Array;
  readonly value?: Float32Array;
}

/**
 * Computes the gradient of the loss of one unit from its outputs. The client calls it once for each unit, in any order. The result must not depend on the
 * other units of the micro-batch.
 */
export type UnitLoss<Selection extends OutputSelection = OutputSelection> = (
  unitIndex: number,
  outputs: SelectedOutputs<Selection>,
) => UnitGradients;

/** Options of one forward and backward pass, which adds to the accumulated gradient. */
export interface ForwardBackwardOptions<Selection extends OutputSelection = OutputSelection> {
  readonly model: ModelId;
  readonly units: readonly EngineUnit[];
  readonly outputs: Selection;
  readonly temperature?: number;
  /** Divisor of every gradient; finite and > 0, else NORMALIZER_INVALID. */
  readonly normalizer: number;
  /**
   * A function that maps outputs to gradients: one round trip for each micro-batch, no second forward pass. Or gradients that do not depend on the outputs,
   * one entry for each unit: no round trip.
   */
  readonly loss: UnitLoss<Selection> | readonly UnitGradients[];
  /** Whether to return the outputs if `loss` is an array. */
  readonly returnOutputs?: boolean;
  readonly signal?: AbortSignal;
}

/** Outputs and costs of a pass. `outputs` is by unit; it is empty if `loss` is an array without `returnOutputs`. */
export interface ForwardBackwardResult {
  readonly outputs: readonly UnitOutputs[];
  readonly microBatches: number;
  /** Number of tokens in the units. */
  readonly tokens: number;
  /** Number of tokens that the engine computed, with shared prefixes counted once and padding included. */
  readonly computedTokens: number;
  /** Wall-clock seconds. */
  readonly seconds: { readonly forward: number; readonly backward: number };
  /** Number of times that memory ran out and the engine repeated work with at most half of the tokens in a micro-batch. */
  readonly memoryRetries: number;
  /** Token budget of a micro-batch after the pass. A lowered budget stays lowered. */
  readonly microBatchTokens: number;
}

/** AdamW (arXiv 1711.05101) with the hyperparameters of this step; algorithms compute schedules. */
export interface OptimStepOptions {
  readonly model: ModelId;
  readonly learningRate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
  readonly weightDecay?: number;
  /** Global L2 norm to which gradients are clipped; 0 or omitted for no clipping. */
  readonly maxGradNorm?: number;
}

export interface OptimStepResult {
  /** False if the gradient norm is not finite. The engine then skips the step. */
  readonly applied: boolean;
  /** Global L2 norm before clipping. */
  readonly gradNorm: number;
  /** Number of steps applied to this model so far. */
  readonly step: number;
  readonly skippedReason?: string;
  /** Wall-clock seconds. */
  readonly seconds: number;
}

/** Exponential average w <- decay w + (1 - decay) v over all weights but value heads. Neither model has an adapter, and both have one shape. */
export interface AverageOptions {
  /** The frozen model w. */
  readonly model: ModelId;
  /** The model v. */
  readonly of: ModelId;
  /** 0 ≤ decay < 1. */
  readonly decay: number;
}

/**
 * Rule for sequences that are sampled while weights change. `recompute`: their state is computed again with the new weights, so each token is drawn from exactly
 * the model of its version. `keep`: their state stays, so later tokens are drawn from new weights over a state of old ones. `wait`: the weights change when
 * they have ended.
 */
export type InFlight = "recompute" | "keep" | "wait";

/** Result of a copy of trained weights to the sampler. */
export interface PublishResult {
  /** Version of the weights from now on: the previous version plus 1. */
  readonly version: number;
  /** Checksum of the weights of the sampler, read after the copy. */
  readonly checksum: string;
  /** Wall-clock seconds. */
  readonly seconds: number;
}

/** Options that change the memory of a pass, and its results only in the last bits. */
export type LoadOptions = Pick<CreateModelOptions, "gradientCheckpointing" | "microBatchTokens">;

/** Samples sequences of models that it holds. It computes no gradient. */
export interface SamplerHost {
  describe(): Promise<EngineInfo>;
  /** Returns the tokenizer files of a model by name, as `createModel` does. */
  readTokenizer(model: ModelId): Promise<Readonly<Record<string, Uint8Array>>>;
  /** Opens a stream of sequences. The caller must close it. */
  sampler(model: ModelId): Promise<Sampler>;
  close(): Promise<void>;
}

/** Holds models and trains them. It has no knowledge of algorithms: those compute losses and schedules. */
export interface Trainer {
  describe(): Promise<EngineInfo>;
  /** Estimates the device memory of models before they are created. */
  estimateMemory(workload: MemoryWorkload): Promise<MemoryEstimate>;
  /** Creates a model. Rejects with MODEL_DIRECTORY_MISSING, MODEL_DIRECTORY_INVALID, LORA_UNAVAILABLE or OUT_OF_MEMORY. */
  createModel(options: CreateModelOptions): Promise<CreatedModel>;
  releaseModel(model: ModelId): Promise<void>;
  /** Computes outputs without gradients, one entry for each unit in the same order. */
  forward(options: {
    readonly model: ModelId;
    readonly units: readonly EngineUnit[];
    readonly outputs: OutputSelection;
    readonly temperature?: number;
    readonly signal?: AbortSignal;
  }): Promise<readonly UnitOutputs[]>;
  /** Adds the gradient of the loss, divided by `normalizer`, to the accumulated gradient of the model. */
  forwardBackward(options: ForwardBackwardOptions): Promise<ForwardBackwardResult>;
  /** Applies the accumulated gradient and sets it to zero. */
  optimStep(options: OptimStepOptions): Promise<OptimStepResult>;
  /** Replaces each weight w of a frozen model by an exponential average with the weight v of another. Rejects with OPTIONS_INVALID for models that cannot be averaged. */
  average(options: AverageOptions): Promise<void>;
  /**
   * Copies the trained weights to the sampler. Rejects if the checksum after the copy differs.
   * @param inFlight rule for running sequences; default `recompute`. In deterministic mode no sequence runs while weights change.
   */
  publish(model: ModelId, inFlight?: InFlight): Promise<PublishResult>;
  /**
   * Writes the published weights, never the trained ones, as a Hugging Face directory; an adapter is merged. The directory appears only when it is complete.
   * @param options.untied whether the head is written as a tensor of its own, with `tie_word_embeddings: false`
   */
  writeWeights(
    model: ModelId,
    directory: string,
    options?: { readonly untied?: boolean },
  ): Promise<Pick<PublishResult, "version" | "checksum">>;
  /** Saves the state of all models, from which training continues with the same bits. The directory appears only when it is complete. */
  save(directory: string): Promise<{ readonly bytes: number; readonly checksum: string }>;
  /**
   * Restores the models of a checkpoint that `save` wrote. Other models remain.
   * @param options replaces the options that each model was saved with
   */
  load(directory: string, options?: LoadOptions): Promise<readonly ModelInfo[]>;
  /** Writes a Hugging Face directory and returns its files. `mergeAdapter` adds the adapter to the weights. */
  export(model: ModelId, directory: string, options?: { readonly mergeAdapter?: boolean }): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Trainer that samples from its own models. It adds nothing to its two parts: code that needs one of them takes that one. */
export interface Engine extends Trainer, SamplerHost {}

/** Part of the trainer that an algorithm uses. The run publishes weights, samples and saves. */
export type LearningEngine = Pick<
  Trainer,
  "describe" | "createModel" | "releaseModel" | "forward" | "forwardBackward" | "optimStep"
>;
