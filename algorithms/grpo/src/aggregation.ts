import type { EpisodeSample, GroupSample } from "./samples.ts";

/** How token losses become one number. */
export type Aggregation = "token_mean" | "sequence_mean" | "constant";

/**
 * Weight of each token of episode i, to be divided by {@link normalizerOf}; n_i counts the learnt tokens of all its rows, so that splitting an
 * episode into rows changes nothing:
 *
 *     token_mean      Σ_i Σ_t l_it / Σ_i n_i            (DAPO, arXiv 2503.14476)
 *     sequence_mean   1/N Σ_i (1/n_i) Σ_t l_it          (GRPO, arXiv 2402.03300)
 *     constant        Σ_i Σ_t l_it / (N · max_tokens)   (Dr. GRPO, arXiv 2503.20783)
 */
export function tokenWeight(episode: EpisodeSample, aggregation: Aggregation): number {
  return aggregation === "sequence_mean" ? 1 / episode.sampled.length : 1;
}

/** What the weighted sum over these groups is divided by. N counts episodes. */
export function normalizerOf(groups: readonly GroupSample[], aggregation: Aggregation, maxTokens: number): number {
  const episodes = groups.flatMap((group) => group.episodes);
  if (aggregation === "token_mean") return episodes.reduce((sum, { sampled }) => sum + sampled.length, 0);
  return aggregation === "sequence_mean" ? episodes.length : episodes.length * maxTokens;
}
