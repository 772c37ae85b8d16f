import { klEstimate, ratioOf } from "@mrlm/kit/learning";
import type { Mean, Metrics } from "@mrlm/spec";
import type { TokenLosses } from "./losses/policy-loss.ts";

/** Sums over tokens, from which metrics follow that do not depend on how a batch was split. */
export class LossMetrics {
  readonly #isCorrected: boolean;
  #tokens = 0;
  #loss = 0;
  #klLoss = 0;
  #ratio = 0;
  #clipped = 0;
  #kl = 0;
  #klTokens = 0;
  #entropy = 0;
  #entropyTokens = 0;
  #mismatchTokens = 0;
  #mismatchKl = 0;
  #mismatchMax = 0;
  #corrected = 0;
  #bounded = 0;
  readonly #ratios = { sum: 0, squares: 0, largest: 0 };

  /** @param isCorrected whether importance weights correct for the mismatch */
  constructor(isCorrected = false) {
    this.#isCorrected = isCorrected;
  }

  addPolicy(policy: TokenLosses, weights: Float64Array): void {
    for (let t = 0; t < policy.loss.length; t++) {
      this.#loss += (policy.loss[t] as number) * (weights[t] as number);
      this.#ratio += policy.ratio[t] as number;
    }
    this.#tokens += policy.loss.length;
    this.#clipped += policy.clipped;
  }

  addKl(logprob: number, reference: number, loss: number): void {
    this.#kl += klEstimate("k3", logprob, reference).value;
    this.#klTokens++;
    this.#klLoss += loss;
  }

  addEntropy(entropy: Float32Array): void {
    for (const value of entropy) this.#entropy += value;
    this.#entropyTokens += entropy.length;
  }

  /**
   * @param ratio importance weight before its bounds
   * @param correction after them
   */
  addMismatch(trainer: number, sampler: number, ratio: number, correction: number): void {
    this.#ratios.sum += ratio;
    this.#ratios.squares += ratio * ratio;
    this.#ratios.largest = Math.max(this.#ratios.largest, ratio);
    if (correction !== ratio) this.#bounded++;
    this.#mismatchTokens++;
    this.#mismatchKl += ratioOf(trainer, sampler) - 1 - (trainer - sampler);
    this.#mismatchMax = Math.max(this.#mismatchMax, Math.abs(trainer - sampler));
    if (correction !== 1) this.#corrected++;
  }

  /** Metrics of importance weights. The effective sample size is (Σ w)² / (n Σ w²) of n tokens: 1 where all weights are equal (Kong 1992). */
  #offPolicy(): Metrics {
    const { sum, squares, largest } = this.#ratios;
    const tokens = this.#mismatchTokens;
    return {
      "offpolicy/ess": tokens === 0 ? 1 : (sum * sum) / (tokens * squares),
      "offpolicy/ratio_max": largest,
      "offpolicy/truncated": { sum: this.#bounded, count: tokens },
    };
  }

  /** @param normalizer sum of the normalizers of the passes that were added */
  report(normalizer: number): Metrics {
    const mean = (sum: number, count: number): Mean => ({ sum, count });
    return {
      "loss/policy": mean(this.#loss, normalizer),
      ...(this.#klTokens === 0
        ? {}
        : { "loss/kl": mean(this.#klLoss, normalizer), "kl/reference": mean(this.#kl, this.#klTokens) }),
      ...(this.#entropyTokens === 0 ? {} : { entropy: mean(this.#entropy, this.#entropyTokens) }),
      "ratio/mean": mean(this.#ratio, this.#tokens),
      "clip/fraction": mean(this.#clipped, this.#tokens),
      // k3 of the sampler against the trainer: 0 where both have the same log-probabilities.
      "mismatch/kl": mean(this.#mismatchKl, this.#mismatchTokens),
      "mismatch/max": this.#mismatchMax,
      "mismatch/corrected": mean(this.#corrected, this.#mismatchTokens),
      ...(this.#isCorrected ? this.#offPolicy() : {}),
    };
  }
}
