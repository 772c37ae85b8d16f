import { type ClipOptions, ratioOf } from "@mrlm/kit/learning";

/** Options that surrogates read. */
export interface SurrogateOptions extends ClipOptions {
  readonly minirl_epsilon_high: number;
  readonly minirl_cap: number;
}

/** Tokens of one episode. Arrays have one number for each. */
export interface EpisodeTokens {
  readonly logprobs: ArrayLike<number>;
  /** Log-probabilities of the old policy. */
  readonly old: ArrayLike<number>;
  /** Weights in the loss of the batch. */
  readonly weights: ArrayLike<number>;
  /** One number for the episode, or one for each token. */
  readonly advantage: number | Float64Array;
  /** Weight versions between the oldest token and the newest weights. */
  readonly age: number;
}

/** A surrogate on the tokens of one episode. */
export interface TokenLosses {
  /** Loss of each token, without its weight. */
  readonly loss: Float64Array;
  /** Derivative of the episode's Σ w_t loss_t with respect to each log-probability. */
  readonly gradient: Float64Array;
  readonly ratio: Float64Array;
  /** Tokens without a gradient, or with a bounded one, because of the loss's bounds. */
  readonly clipped: number;
}

/** Surrogate loss of one episode and its gradient. */
export type PolicyLoss<Options = SurrogateOptions> = (tokens: EpisodeTokens, options: Options) => TokenLosses;

/** One token of an episode. */
export interface Token extends Pick<EpisodeTokens, "age"> {
  readonly advantage: number;
  readonly logprob: number;
  readonly old: number;
  /** exp(logprob - old), the exponent limited to ±10. */
  readonly ratio: number;
}

/** Loss of one token, and its derivative with respect to the log-probability. */
export interface TokenLoss {
  readonly loss: number;
  readonly slope: number;
  /** Whether a bound of the loss limits the gradient; default false. */
  readonly isClipped?: boolean;
}

/** Returns exp(logp_t - old_t) for each token, the exponent limited to ±10. */
export function tokenRatios({ logprobs, old }: EpisodeTokens): Float64Array {
  return Float64Array.from({ length: logprobs.length }, (_, t) => ratioOf(logprobs[t] as number, old[t] as number));
}

/** Makes the loss of an episode from a loss that is defined token by token. */
export function perToken<Options = SurrogateOptions>(
  lossOf: (token: Token, options: Options) => TokenLoss,
): PolicyLoss<Options> {
  return (tokens, options) => {
    const { logprobs, old, weights, advantage, age } = tokens;
    const ratio = tokenRatios(tokens);
    const [loss, gradient] = [new Float64Array(ratio.length), new Float64Array(ratio.length)];
    let clipped = 0;
    for (let t = 0; t < ratio.length; t++) {
      const token = lossOf(
        {
          logprob: logprobs[t] as number,
          old: old[t] as number,
          ratio: ratio[t] as number,
          advantage: typeof advantage === "number" ? advantage : (advantage[t] as number),
          age,
        },
        options,
      );
      loss[t] = token.loss;
      gradient[t] = (weights[t] as number) * token.slope;
      if (token.isClipped) clipped++;
    }
    return { loss, gradient, ratio, clipped };
  };
}
