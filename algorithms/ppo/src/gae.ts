import { standardDeviation } from "@mrlm/kit/learning";

/** Input of the estimator for one episode: one time step for each token that the policy chose. Observed tokens between them are no time steps. */
export interface TokenSteps {
  /** Reward after each token. */
  readonly rewards: ArrayLike<number>;
  /** Value of the state before each token. */
  readonly values: ArrayLike<number>;
  /** Value of the state after the last token: 0 where the episode terminated, the value of the critic where it was truncated. */
  readonly finalValue: number;
}

/**
 * Computes generalised advantage estimates (arXiv 1506.02438), V_n the final value:
 *
 *     δ_t = r_t + γ V_{t+1} - V_t        A_t = Σ_k (γλ)^k δ_{t+k}
 *
 * The λ-return of step t is A_t + V_t.
 */
export function generalizedAdvantages(
  { rewards, values, finalValue }: TokenSteps,
  gamma: number,
  lambda: number,
): Float64Array {
  const advantages = new Float64Array(values.length);
  let next = finalValue;
  let advantage = 0;
  for (let t = values.length - 1; t >= 0; t--) {
    const value = values[t] as number;
    const delta = (rewards[t] as number) + gamma * next - value;
    advantage = delta + gamma * lambda * advantage;
    advantages[t] = advantage;
    next = value;
  }
  return advantages;
}

/**
 * Returns (A - mean) / (std + 1e-8) over all tokens of all episodes, with n - 1 in the standard deviation. Fewer than
 * two tokens are returned unchanged.
 */
export function whiten(episodes: readonly Float64Array[]): Float64Array[] {
  const all = episodes.flatMap((advantages) => Array.from(advantages));
  if (all.length < 2) return [...episodes];
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  const deviation = standardDeviation(all);
  return episodes.map((advantages) => advantages.map((value) => (value - mean) / (deviation + 1e-8)));
}
