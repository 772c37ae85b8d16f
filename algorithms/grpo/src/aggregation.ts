/** The part of an episode that aggregation reads: one entry of `sampled` for each learned token. */
interface EpisodeTokens {
  readonly sampled: ArrayLike<number>;
}

/** Rule that combines the losses of tokens into the loss of a batch. */
interface AggregationRule {
  /** Weight of each token of an episode. */
  readonly weight: (episode: EpisodeTokens) => number;
  /** Denominator of the weighted sum over these episodes. */
  readonly normalizer: (episodes: readonly EpisodeTokens[], maxTokens: number) => number;
}

/**
 * Rules by the value of the option `aggregation`. n_i is the number of learned tokens of episode i over all its rows, so that splitting an
 * episode into rows changes nothing. N is the number of episodes.
 *
 *     token_mean      Σ_i Σ_t l_it / Σ_i n_i            (DAPO, arXiv 2503.14476)
 *     sequence_mean   1/N Σ_i (1/n_i) Σ_t l_it          (GRPO, arXiv 2402.03300)
 *     constant        Σ_i Σ_t l_it / (N · max_tokens)   (Dr. GRPO, arXiv 2503.20783)
 */
const aggregations = {
  token_mean: {
    weight: () => 1,
    normalizer: (episodes) => episodes.reduce((sum, { sampled }) => sum + sampled.length, 0),
  },
  sequence_mean: { weight: ({ sampled }) => 1 / sampled.length, normalizer: ({ length }) => length },
  constant: { weight: () => 1, normalizer: ({ length }, maxTokens) => length * maxTokens },
} satisfies Record<string, AggregationRule>;

/** A value of the option `aggregation`. */
export type Aggregation = keyof typeof aggregations;

/** Values of the option `aggregation`. */
export const aggregationNames = Object.keys(aggregations) as Aggregation[];

/** Returns the weight of each token of this episode, to be divided by {@link normalizerOf}. */
export function tokenWeight(episode: EpisodeTokens, aggregation: Aggregation): number {
  const { weight }: AggregationRule = aggregations[aggregation];
  return weight(episode);
}

/** Returns the denominator of the weighted sum over these groups. */
export function normalizerOf(
  groups: readonly { readonly episodes: readonly EpisodeTokens[] }[],
  aggregation: Aggregation,
  maxTokens: number,
): number {
  const { normalizer }: AggregationRule = aggregations[aggregation];
  return normalizer(
    groups.flatMap((group) => group.episodes),
    maxTokens,
  );
}
