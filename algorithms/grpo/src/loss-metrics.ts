import { klEstimate, type Mean, type Metrics, MismatchMetrics } from "@mrlm/kit/learning";
import type { TokenLosses } from "./losses/policy-loss.ts";

/** Sums over tokens, from which metrics follow that do not depend on how a batch was split. */
export class LossMetrics {
  /** Trainer against sampler. */
  readonly mismatch: MismatchMetrics;
  #tokens = 0;
  #loss = 0;
  #klLoss = 0;
  #ratio = 0;
  #clipped = 0;
  #kl = 0;
  #klTokens = 0;
  #teacherKl = 0;
  #teacherTokens = 0;
  #entropy = 0;
  #entropyTokens = 0;

  /** @param isCorrected whether importance weights correct for the mismatch */
  constructor(isCorrected = false) {
    this.mismatch = new MismatchMetrics(isCorrected);
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

  addTeacher(logprob: number, teacher: number): void {
    this.#teacherKl += klEstimate("k3", logprob, teacher).value;
    this.#teacherTokens++;
  }

  /** Adds the divergence from a teacher over many tokens, which is not estimated. */
  addDivergence({ sum, count }: Mean): void {
    this.#teacherKl += sum;
    this.#teacherTokens += count;
  }

  addEntropy(entropy: Float32Array): void {
    for (const value of entropy) this.#entropy += value;
    this.#entropyTokens += entropy.length;
  }

  /** @param normalizer sum of the normalizers of the passes that were added */
  report(normalizer: number): Metrics {
    const mean = (sum: number, count: number): Mean => ({ sum, count });
    return {
      "loss/policy": mean(this.#loss, normalizer),
      ...(this.#klTokens === 0
        ? {}
        : { "loss/kl": mean(this.#klLoss, normalizer), "kl/reference": mean(this.#kl, this.#klTokens) }),
      ...(this.#teacherTokens === 0 ? {} : { "distill/kl": mean(this.#teacherKl, this.#teacherTokens) }),
      ...(this.#entropyTokens === 0 ? {} : { entropy: mean(this.#entropy, this.#entropyTokens) }),
      "ratio/mean": mean(this.#ratio, this.#tokens),
      "clip/fraction": mean(this.#clipped, this.#tokens),
      ...this.mismatch.report(),
    };
  }
}
