/** Divergence at one position, and its derivative with respect to each log-probability of the policy. */
export interface TokenDivergence {
  /** In nats. */
  readonly value: number;
  readonly slopes: Float64Array;
}

/** Probability below which the rest of a distribution is rounding. */
const FLOOR = 1e-7;

/**
 * Computes the reverse divergence KL(π‖π_T) at one position over a set S of tokens and the rest r = 1 - Σ_S π as one more (without a rest: over all tokens):
 *
 *     D = Σ_S π_i (log π_i - log π_Ti) + r (log r - log r_T)          dD/dlog π_i = π_i [(log π_i - log π_Ti) - (log r - log r_T)]
 *
 * D is at most the divergence over the whole vocabulary, and equal to it where S holds all tokens: joining tokens loses information (Cover and Thomas, Elements of
 * Information Theory, section 2.7). Over all tokens the bracket is short of a constant, which no softmax has a derivative for.
 *
 * @param own log π of the tokens of S in nats
 * @param teacher log π_T of the same tokens
 */
export function tokenDivergence(own: ArrayLike<number>, teacher: ArrayLike<number>): TokenDivergence {
  const masses = Float64Array.from(own, Math.exp);
  const restOf = (values: Iterable<number>): number => 1 - Iterator.from(values).reduce((sum, value) => sum + value, 0);
  const rest = restOf(masses);
  const ratioOfRest =
    rest > FLOOR ? Math.log(rest) - Math.log(Math.max(FLOOR, restOf(Float64Array.from(teacher, Math.exp)))) : 0;
  const ratios = Float64Array.from(own, (logprob, i) => logprob - (teacher[i] as number));
  const inside = ratios.reduce((sum, ratio, i) => sum + (masses[i] as number) * ratio, 0);
  return {
    value: inside + (rest > FLOOR ? rest * ratioOfRest : 0),
    slopes: ratios.map((ratio, i) => (masses[i] as number) * (ratio - ratioOfRest)),
  };
}
