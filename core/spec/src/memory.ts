import type { CreateModelOptions, ModelId } from "./model.ts";

/** Models and sequences of a run, as far as they determine its memory. */
export interface MemoryWorkload {
  /** Models to create, in order. The source of a copy is an earlier one of these, or a model that the engine holds. */
  readonly models: readonly CreateModelOptions[];
  /** The models that sample, each beside the others; default none. */
  readonly sampledModels?: readonly ModelId[];
  /** Number of sequences that are sampled at the same time. */
  readonly concurrency: number;
  /** Length of the longest sequence in tokens, including its prompt; default the limit of the models. */
  readonly sequenceTokens?: number;
  /** Number of sequences in the largest unit; default 1. */
  readonly unitSequences?: number;
  /** CUDA devices in place of those of the engine, one for each rank. Directories of models then need no weights. */
  readonly assumedDevices?: {
    /** Name for messages. */
    readonly name: string;
    /** Memory of one device. */
    readonly bytes: number;
    readonly ranks: number;
    /** Whether the ranks share the weights. */
    readonly shardsWeights: boolean;
    /** Ranks that share the tokens of a unit. */
    readonly context: number;
    /** Ranks that share each product. */
    readonly tensor: number;
  };
}

/** Memory of one part of one model, on one rank. */
export interface MemoryLine {
  readonly model: ModelId;
  /** `weights`, `gradients`, `optimizer`, ... */
  readonly part: string;
  readonly bytes: number;
  /** Derivation of `bytes` for the user. */
  readonly formula: string;
}

/** Memory that a workload needs on the device of each rank, and the token budget of a micro-batch that fits. */
export interface MemoryEstimate {
  /** Parts of the total at `microBatchTokens`, or at `leastTokens` if no sequence fits. */
  readonly lines: readonly MemoryLine[];
  /** Sum of `lines`. */
  readonly totalBytes: number;
  /** 90% of the free memory; 0 if the system does not report it. */
  readonly availableBytes: number;
  /** Source of `availableBytes`: `CUDA`, `MemAvailable`, `cgroup limit`, ... */
  readonly availableFrom: string;
  /** Largest token budget that fits, at most `wantedTokens`; 0 if no sequence fits. */
  readonly microBatchTokens: number;
  /** Requested token budget, or the default of the engine. */
  readonly wantedTokens: number;
  /** Total at `wantedTokens`. */
  readonly wantedBytes: number;
  /** Token budget of one sequence of the longest length. */
  readonly leastTokens: number;
  /** Total at `leastTokens`. */
  readonly leastBytes: number;
  /** Length in tokens of the longest single sequence that fits. */
  readonly fittingSequenceTokens: number;
  /** The engine, or the engines that share its device, for messages; only where a run has several. */
  readonly engine?: string;
  /** Estimates of the devices of other engines, whose token budgets are not smaller. */
  readonly others?: readonly MemoryEstimate[];
}

/** Models that an algorithm creates in addition to the policy. */
export interface AlgorithmMemory {
  /** Whether it uses a reference model. */
  readonly reference?: boolean;
  /** Separate critic: a copy of the policy, or the model of a directory. */
  readonly critic?: "copy" | { readonly path: string };
  /** Number of sequences in its largest unit; default 1. */
  readonly unitSequences?: number;
}
