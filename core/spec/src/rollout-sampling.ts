/** Sampling parameters of a policy in episodes. */
export interface RolloutSampling {
  /** ≥ 0; 0 selects the most probable token. */
  readonly temperature: number;
  /** Limit of tokens in one turn. */
  readonly maxTokens: number;
  readonly minTokens?: number;
  readonly topP?: number;
  readonly topK?: number;
  /** Whether to sample `maxTokens` tokens in every turn, without stop tokens; for benchmarks. */
  readonly ignoreStop?: boolean;
}
