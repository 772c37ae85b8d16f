import { defined } from "@mrlm/kit";
import { type Mean, meanOf, type Metrics } from "@mrlm/kit/learning";
import type { Estimate } from "./estimate.ts";

/** Sums over the tokens of all updates of an iteration, from which metrics follow that do not depend on how a batch was split. */
export class PpoMetrics {
  readonly #sums = {
    tokens: 0,
    loss: 0,
    ratio: 0,
    clipped: 0,
    moved: 0,
    klLoss: 0,
    klTokens: 0,
    entropy: 0,
    entropyTokens: 0,
    values: 0,
    valueLoss: 0,
    valuesHeld: 0,
  };

  addToken(token: {
    readonly loss: number;
    readonly ratio: number;
    readonly isClipped: boolean;
    readonly moved: number;
  }): void {
    const sums = this.#sums;
    sums.tokens++;
    sums.loss += token.loss;
    sums.ratio += token.ratio;
    sums.clipped += Number(token.isClipped);
    sums.moved += token.moved;
  }

  addKlLoss(loss: number): void {
    this.#sums.klLoss += loss;
    this.#sums.klTokens++;
  }

  addEntropy(entropy: Float32Array): void {
    for (const value of entropy) this.#sums.entropy += value;
    this.#sums.entropyTokens += entropy.length;
  }

  addValue(loss: number, isHeld: boolean): void {
    this.#sums.values++;
    this.#sums.valueLoss += loss;
    this.#sums.valuesHeld += Number(isHeld);
  }

  /** Divergence of the old policy from the current one, summed over all tokens so far. The difference of two results is the sum over the tokens between. */
  get moved(): Mean {
    return { sum: this.#sums.moved, count: this.#sums.tokens };
  }

  report(): Metrics {
    const sums = this.#sums;
    const mean = (sum: number, count: number): Mean => ({ sum, count });
    return {
      ...(sums.tokens === 0
        ? {}
        : {
            "loss/policy": mean(sums.loss, sums.tokens),
            "ratio/mean": mean(sums.ratio, sums.tokens),
            "clip/fraction": mean(sums.clipped, sums.tokens),
            "kl/old": mean(sums.moved, sums.tokens),
          }),
      ...(sums.klTokens === 0 ? {} : { "loss/kl": mean(sums.klLoss, sums.klTokens) }),
      ...(sums.entropyTokens === 0 ? {} : { entropy: mean(sums.entropy, sums.entropyTokens) }),
      "loss/value": mean(sums.valueLoss, sums.values),
      "clip/value_fraction": mean(sums.valuesHeld, sums.values),
    };
  }
}

/** Returns the metrics of the critic's values before the first update from the batch. */
export function criticMetrics(episodes: readonly Estimate[]): Metrics {
  const values = episodes.flatMap(({ values: each }) => Array.from(each));
  const returns = episodes.flatMap(({ returns: each }) => Array.from(each));
  const explained = explainedVariance(values, returns);
  return {
    "value/mean": meanOf(values),
    "return/mean": meanOf(returns),
    ...defined({ "value/explained_variance": explained }),
  };
}

/**
 * Returns 1 - Var(R - V) / Var(R): 1 where every value equals its return, 0 where every value is the mean return; `undefined` where all returns are
 * equal.
 */
export function explainedVariance(values: readonly number[], returns: readonly number[]): number | undefined {
  const variance = (numbers: readonly number[]): number => {
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    return numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  };
  const total = variance(returns);
  return total > 0 ? 1 - variance(returns.map((value, i) => value - (values[i] as number))) / total : undefined;
}
