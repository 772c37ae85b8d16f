import { defined } from "@mrlm/kit";
import {
  type Credit,
  type EngineUnit,
  type Metrics,
  MismatchMetrics,
  mismatchWeights,
  type UnitOutputs,
} from "@mrlm/kit/learning";
import { byEpisode, type PpoEpisode, type PpoGroup, unitOf } from "./batch.ts";
import { type Estimate, estimate } from "./estimate.ts";
import { whiten } from "./gae.ts";
import type { PpoOptions } from "./options.ts";

/** An episode with all numbers that stay constant during the updates from its batch. */
export interface FrozenEpisode extends PpoEpisode, Estimate {
  /** Log-probabilities of the proximal policy: the weights before the first update, or with `old_policy: sampler` those that played. */
  readonly old: Float32Array;
  /** Importance weights of the proximal policy against the one that played; 0 for a token that `mismatch` leaves out. */
  readonly weights: Float64Array;
  readonly reference?: Float32Array;
}

/**
 * Constant inputs of the updates from one batch. Log-probabilities, values, advantages and targets are those before the first update, and are computed
 * once. The first call for a unit stores its numbers and later calls change nothing, so that the forward pass of the first update can provide them.
 */
export class FrozenBatch {
  readonly groups: readonly PpoGroup[];
  readonly units: readonly EngineUnit[];
  readonly #options: PpoOptions;
  readonly #klCoefficient: number;
  readonly #trainer: Float32Array[][] = [];
  readonly #weights: Float64Array[][] = [];
  readonly #references: Float32Array[][] = [];
  readonly #estimates: Estimate[][] = [];

  /** @param klCoefficient coefficient of the divergence in the reward */
  constructor(groups: readonly PpoGroup[], options: PpoOptions, klCoefficient: number) {
    this.groups = groups;
    this.units = groups.map(unitOf);
    this.#options = options;
    this.#klCoefficient = klCoefficient;
  }

  freezeReference(unit: number, logprob: Float32Array): void {
    this.#references[unit] ??= byEpisode(this.#group(unit), logprob);
  }

  freezeLogprobs(unit: number, logprob: Float32Array): void {
    this.#trainer[unit] ??= byEpisode(this.#group(unit), logprob);
  }

  /** Stores values and computes the estimates. With a divergence in the reward, the log-probabilities of policy and reference must be frozen before. */
  freezeValues(unit: number, { value, finalValue }: UnitOutputs): void {
    if (this.#estimates[unit] !== undefined) return;
    const group = this.#group(unit);
    const values = byEpisode(group, value as Float32Array);
    let rows = 0;
    this.#estimates[unit] = group.map((episode, e) => {
      rows += episode.rows.length;
      const [old, reference] = [this.#old(unit, e), this.#references[unit]?.[e]];
      const isCharged = this.#options.kl_placement === "reward" && old !== undefined && reference !== undefined;
      const parts = {
        values: values[e] as Float32Array,
        finalValue: episode.isTruncated ? (finalValue?.[rows - 1] as number) : 0,
      };
      return estimate(
        episode,
        isCharged ? { ...parts, divergence: { old, reference, coefficient: this.#klCoefficient } } : parts,
        this.#options,
      );
    });
  }

  /** Whitens the advantages of all units. Their values must be frozen before. */
  whiten(): void {
    const whitened = whiten(this.#estimates.flat().map(({ advantages }) => advantages)).values();
    for (const [unit, estimates] of this.#estimates.entries()) {
      this.#estimates[unit] = estimates.map((each) => ({ ...each, advantages: whitened.next().value as Float64Array }));
    }
  }

  estimates(unit: number): readonly Estimate[] {
    return this.#estimates[unit] as Estimate[];
  }

  episodes(unit: number): FrozenEpisode[] {
    return this.#group(unit).map((episode, e) => {
      const reference = this.#references[unit]?.[e];
      return {
        ...episode,
        ...(this.estimates(unit)[e] as Estimate),
        old: this.#old(unit, e) as Float32Array,
        weights: this.#weightsOf(unit)[e] as Float64Array,
        ...defined({ reference }),
      };
    });
  }

  /** Returns the sums of log-ratios to the reference, one for each episode. */
  referenceDivergences(): number[] {
    return this.#references.flatMap((group, unit) =>
      group.map(
        (reference, e) =>
          this.#old(unit, e)?.reduce((sum, old, t) => sum + old - (reference[t] as number), 0) as number,
      ),
    );
  }

  /** Returns the credits of the batch: whitened advantages, where whitened, and the trainer's log-probabilities, where frozen. */
  credits(): Credit[] {
    return this.groups.flatMap((group, unit) =>
      group.map(({ trajectory, agent }, e) => {
        const logprobs = this.#options.old_policy === "trainer" ? this.#trainer[unit]?.[e]?.slice() : undefined;
        const advantage = Float32Array.from((this.estimates(unit)[e] as Estimate).advantages);
        return { trajectory, agent, advantage, ...defined({ logprobs }) };
      }),
    );
  }

  /** Returns the tokens of some units, divided by those that `mismatch: drop` leaves: the policy's loss is a mean over the latter. Their log-probabilities must be frozen before. */
  perKept(units: readonly number[]): number {
    if (this.#options.mismatch !== "drop") return 1;
    const weights = units.flatMap((unit) => this.#weightsOf(unit).flatMap((each) => Array.from(each)));
    const kept = weights.filter((weight) => weight > 0).length;
    return kept === 0 ? 0 : weights.length / kept;
  }

  /** Returns the comparison of the weights at each unit's first pass with those that played; empty where only the critic was trained. */
  mismatch(): Metrics {
    const metrics = new MismatchMetrics(this.#options.mismatch !== "none");
    for (const [unit, trainers] of this.#trainer.entries()) {
      for (const [e, { sampled }] of this.#group(unit).entries()) {
        const trainer = trainers[e] as Float32Array;
        const { ratios, weights } = mismatchWeights(this.#options, trainer, sampled);
        for (const [t, ratio] of ratios.entries())
          metrics.add(trainer[t] as number, sampled[t] as number, ratio, weights[t] as number);
      }
    }
    return this.#trainer.length === 0 ? {} : metrics.report();
  }

  #old(unit: number, e: number): Float32Array | undefined {
    return this.#options.old_policy === "sampler" ? this.#group(unit)[e]?.sampled : this.#trainer[unit]?.[e];
  }

  #weightsOf(unit: number): Float64Array[] {
    return (this.#weights[unit] ??= this.#group(unit).map(
      ({ sampled }, e) => mismatchWeights(this.#options, this.#trainer[unit]?.[e] as Float32Array, sampled).weights,
    ));
  }

  #group(unit: number): PpoGroup {
    return this.groups[unit] as PpoGroup;
  }
}
