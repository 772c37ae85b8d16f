import type { CreateModelOptions, ModelId } from "./model.ts";

/** What a run is going to do with an engine's memory. */
export interface MemoryWorkload {
  /** What will be made, in order; a copy may be of one of these or of a model that is held. */
  readonly models: readonly CreateModelOptions[];
  /** Which of them is sampled from. */
  readonly sampledModel?: ModelId;
  /** Sequences sampled at once. */
  readonly concurrency: number;
  /** Longest sequence, prompt included; omitted: what the models accept. */
  readonly sequenceTokens?: number;
  /** Sequences of the largest unit; default 1. */
  readonly unitSequences?: number;
}

/** One part of one model's memory. */
export interface MemoryLine {
  readonly model: ModelId;
  /** `weights`, `gradients`, `optimizer`, ... */
  readonly part: string;
  readonly bytes: number;
  /** Where the number comes from, for people. */
  readonly formula: string;
}

/** What a workload would take on each rank's device, and the token budget that it should have. */
export interface MemoryEstimate {
  /** Under `microBatchTokens`; where not even one sequence fits, under `leastTokens`. */
  readonly lines: readonly MemoryLine[];
  /** Their sum. */
  readonly totalBytes: number;
  /** What there is, a tenth taken off; 0 where the system does not say. */
  readonly availableBytes: number;
  /** Who says so: `CUDA`, `MemAvailable`, `cgroup limit`, ... */
  readonly availableFrom: string;
  /** The largest token budget that fits, at most the wanted one; 0: not even one sequence fits. */
  readonly microBatchTokens: number;
  /** The budget that was asked for, or the engine's own. */
  readonly wantedTokens: number;
  readonly wantedBytes: number;
  /** One sequence of the longest length. */
  readonly leastTokens: number;
  readonly leastBytes: number;
  /** The longest single sequence that fits. */
  readonly fittingSequenceTokens: number;
}

/** What an algorithm makes beside the policy. */
export interface AlgorithmMemory {
  /** Whether it asks for a reference. */
  readonly reference?: boolean;
  /** A critic of its own: a copy of the policy, or what a directory holds. */
  readonly critic?: "copy" | { readonly path: string };
  /** Sequences of its largest unit; default 1. */
  readonly unitSequences?: number;
}
