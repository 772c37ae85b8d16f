import type { MemoryEstimate, MemoryWorkload } from "./memory.ts";
import type { CreatedModel, CreateModelOptions, ModelId, ModelInfo } from "./model.ts";
import type { StopReason } from "./trajectory.ts";

/** What an engine says of itself. */
export interface EngineInfo {
  readonly device: string;
  readonly deviceName: string;
  readonly versions: { readonly torch: string; readonly transformers: string; readonly python: string };
  readonly deterministic: boolean;
  readonly threads: number;
  readonly worldSize: number;
  readonly instanceId: string;
  readonly memory: { readonly allocatedBytes: number; readonly peakBytes: number };
  /** Seconds of wall time in which it computed since it started. */
  readonly computeSeconds: number;
  readonly models: readonly ModelInfo[];
}

/** How to draw tokens. */
export interface SamplingParams {
  /** 0 is greedy. */
  readonly temperature: number;
  readonly maxTokens: number;
  readonly minTokens?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stopTokenIds: readonly number[];
}

/** A sequence to sample. */
export interface SampleRequest {
  readonly prompt: Int32Array;
  readonly params: SamplingParams;
  /** Key of the sequence's own random stream, 64 bits; from (run seed, episode, turn). */
  readonly key: bigint;
}

/** What was sampled. */
export interface SampleResult {
  readonly tokens: Int32Array;
  /** Under the distribution that each token was drawn from, at the sampling temperature. */
  readonly logprobs: Float32Array;
  readonly versions: Int32Array;
  readonly stopReason: StopReason;
  /** top-p or top-k cut the support: such samples cannot be trained on without it. */
  readonly truncatedSupport: boolean;
}

/**
 * An open stream of sequences under one model. In deterministic mode what is submitted is sampled at the next `barrier()`;
 * in throughput mode at once.
 */
export interface Sampler {
  /** Rejects with the sequence's own error; others are unaffected. `signal` cancels it: what there is comes back, `cancelled`. */
  sample(request: SampleRequest, options?: { readonly signal?: AbortSignal }): Promise<SampleResult>;
  /** Everything submitted since the last barrier forms one wave, in the order of submission. */
  barrier(): void;
  close(): Promise<void>;
}

/** Token ids with the positions whose outputs are wanted. `mask[0]` is 0. */
export interface EngineSequence {
  readonly tokens: Int32Array;
  readonly mask: Uint8Array;
}

/** Sequences that belong together and stay in one micro-batch: a DPO pair, a group with a shared prompt. */
export interface EngineUnit {
  readonly sequences: readonly EngineSequence[];
}

/** Which outputs to compute. */
export interface OutputSelection {
  readonly logprob?: boolean;
  /** In nats, of the full distribution at the temperature. */
  readonly entropy?: boolean;
  /** Of the state before each masked token. */
  readonly value?: boolean;
  /** Of the state after each sequence's last token. */
  readonly finalValue?: boolean;
}

/**
 * Per-token numbers of one unit: float32 for each masked position, in order, concatenated over the unit's sequences
 * (`finalValue`: one for each sequence).
 */
export interface UnitOutputs {
  readonly logprob?: Float32Array;
  readonly entropy?: Float32Array;
  readonly value?: Float32Array;
  readonly finalValue?: Float32Array;
}

/** Gradient of the summed (not averaged) loss with respect to each output; omitted means zeros. */
export interface UnitGradients {
  readonly logprob?: Float32Array;
  readonly entropy?: Float32Array;
  readonly value?: Float32Array;
}

/**
 * From the outputs of one unit to the gradient of its part of the loss. It is called once for each unit, in any order, and must not
 * depend on which units share a micro-batch.
 */
export type UnitLoss = (unitIndex: number, outputs: UnitOutputs) => UnitGradients;

/** One pass of accumulation. */
export interface ForwardBackwardOptions {
  readonly model: ModelId;
  readonly units: readonly EngineUnit[];
  readonly outputs: OutputSelection;
  readonly temperature?: number;
  /** Every gradient is divided by it; finite and > 0. */
  readonly normalizer: number;
  /**
   * A function is called with the outputs of each micro-batch and answers their gradients (one round trip, no second
   * forward pass). An array holds gradients that are known beforehand, one for each unit, and costs no round trip.
   */
  readonly loss: UnitLoss | readonly UnitGradients[];
  /** With gradients known beforehand: also return the outputs. */
  readonly returnOutputs?: boolean;
  readonly signal?: AbortSignal;
}

/** What a pass cost, and its outputs by unit where they were asked for or given to the loss. */
export interface ForwardBackwardResult {
  readonly outputs: readonly UnitOutputs[];
  readonly microBatches: number;
  /** Given to the model. */
  readonly tokens: number;
  /** Computed, once common prefixes are shared and padding is added. */
  readonly computedTokens: number;
  /** Of wall time. */
  readonly seconds: { readonly forward: number; readonly backward: number };
  /** How often memory ran out, so that the pass was repeated with at most half of the tokens in a micro-batch. */
  readonly memoryRetries: number;
  /** Token budget of a micro-batch at the end of the pass; one that was lowered stays so. */
  readonly microBatchTokens: number;
}

/** AdamW (arXiv 1711.05101), with this step's own hyperparameters: schedules are the algorithm's business. */
export interface OptimStepOptions {
  readonly model: ModelId;
  readonly learningRate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
  readonly weightDecay?: number;
  /** Global norm; 0 or omitted does not clip. */
  readonly maxGradNorm?: number;
}

/** What came of an optimiser step. */
export interface OptimStepResult {
  /** False when the gradient norm was not finite: the step was skipped. */
  readonly applied: boolean;
  /** Before clipping. */
  readonly gradNorm: number;
  /** Steps that were applied to this model so far. */
  readonly step: number;
  readonly skippedReason?: string;
  /** Of wall time. */
  readonly seconds: number;
}

/** Weights that the sampler has taken over. */
export interface PublishResult {
  /** That sequences are sampled with from now on; one more than before. */
  readonly version: number;
  /** Of the sampler's weights, read back after the copy. */
  readonly checksum: string;
  /** Of wall time. */
  readonly seconds: number;
}

/** What decides how much memory a pass takes, and nothing of its result but last bits. */
export type LoadOptions = Pick<CreateModelOptions, "gradientCheckpointing" | "microBatchTokens">;

/** Holds weights, samples and learns. It knows models and no algorithm. */
export interface Engine {
  describe(): Promise<EngineInfo>;
  /** What models would take of the device's memory, before any of them is made. */
  estimateMemory(workload: MemoryWorkload): Promise<MemoryEstimate>;
  createModel(options: CreateModelOptions): Promise<CreatedModel>;
  releaseModel(model: ModelId): Promise<void>;
  sampler(model: ModelId): Promise<Sampler>;
  forward(options: {
    readonly model: ModelId;
    readonly units: readonly EngineUnit[];
    readonly outputs: OutputSelection;
    readonly temperature?: number;
    readonly signal?: AbortSignal;
  }): Promise<readonly UnitOutputs[]>;
  forwardBackward(options: ForwardBackwardOptions): Promise<ForwardBackwardResult>;
  optimStep(options: OptimStepOptions): Promise<OptimStepResult>;
  /** Gives the sampler the trained weights; rejects when the checksum read back differs. */
  publish(model: ModelId): Promise<PublishResult>;
  /** Everything for a bit-identical continuation, in a directory that exists only when complete. */
  save(directory: string): Promise<{ readonly bytes: number; readonly checksum: string }>;
  /** @param options instead of what each model was saved with */
  load(directory: string, options?: LoadOptions): Promise<readonly ModelInfo[]>;
  /** An ordinary Hugging Face directory. */
  export(model: ModelId, directory: string, options?: { readonly mergeAdapter?: boolean }): Promise<readonly string[]>;
  close(): Promise<void>;
}
