import type { Mean, Metrics } from "@mrlm/spec";
import { ratioOf } from "./ratios.ts";

/** Sums over tokens that compare trainer and sampler, from which metrics follow that do not depend on how a batch was split. Each token is added once. */
export class MismatchMetrics {
  readonly #isCorrected: boolean;
  #tokens = 0;
  #kl = 0;
  #largest = 0;
  #corrected = 0;
  #bounded = 0;
  readonly #ratios = { sum: 0, squares: 0, largest: 0 };

  /** @param isCorrected whether importance weights correct for the mismatch */
  constructor(isCorrected: boolean) {
    this.#isCorrected = isCorrected;
  }

  /**
   * @param ratio importance weight before its bounds
   * @param correction after them
   */
  add(trainer: number, sampler: number, ratio: number, correction: number): void {
    this.#ratios.sum += ratio;
    this.#ratios.squares += ratio * ratio;
    this.#ratios.largest = Math.max(this.#ratios.largest, ratio);
    if (correction !== ratio) this.#bounded++;
    this.#tokens++;
    this.#kl += ratioOf(trainer, sampler) - 1 - (trainer - sampler);
    this.#largest = Math.max(this.#largest, Math.abs(trainer - sampler));
    if (correction !== 1) this.#corrected++;
  }

  report(): Metrics {
    const mean = (sum: number): Mean => ({ sum, count: this.#tokens });
    return {
      // k3 of the sampler against the trainer: 0 where both have the same log-probabilities.
      "offpolicy/kl": mean(this.#kl),
      "mismatch/max": this.#largest,
      "mismatch/corrected": mean(this.#corrected),
      ...(this.#isCorrected ? this.#offPolicy(mean) : {}),
    };
  }

  /** Metrics of importance weights. The effective sample size is (Σ w)² / (n Σ w²) of n tokens: 1 where all weights are equal (Kong 1992). */
  #offPolicy(mean: (sum: number) => Mean): Metrics {
    const { sum, squares, largest } = this.#ratios;
    return {
      "offpolicy/ess": this.#tokens === 0 ? 1 : (sum * sum) / (this.#tokens * squares),
      "offpolicy/ratio_max": largest,
      "offpolicy/truncated": mean(this.#bounded),
    };
  }
}
