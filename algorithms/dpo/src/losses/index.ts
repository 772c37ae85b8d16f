import { hinge } from "./hinge.ts";
import { ipo } from "./ipo.ts";
import { kto } from "./kto.ts";
import type { AnswerLogprobs, LossParameters, PairLoss, PreferenceLoss } from "./pair-loss.ts";
import { sigmoid } from "./sigmoid.ts";
import { simpo } from "./simpo.ts";

/** A preference loss with its requirements. */
export interface LossEntry {
  readonly loss: PairLoss;
  /** `reference`: log-probabilities of the reference. `divergence`: also an estimate of KL(π‖ref) for each batch. */
  readonly needs: "nothing" | "reference" | "divergence";
  /** Options that the loss reads in addition to `beta`. Other options are rejected. */
  readonly options: readonly Exclude<keyof LossParameters, "beta">[];
}

/** Preference losses by the value of the option `loss`. */
const losses = {
  sigmoid: { loss: sigmoid, needs: "reference", options: ["label_smoothing"] },
  hinge: { loss: hinge, needs: "reference", options: [] },
  ipo: { loss: ipo, needs: "reference", options: [] },
  simpo: { loss: simpo, needs: "nothing", options: ["label_smoothing", "simpo_margin"] },
  kto: { loss: kto, needs: "divergence", options: ["kto_desirable_weight", "kto_undesirable_weight"] },
} satisfies Record<string, LossEntry>;

/** A value of the option `loss`. */
export type LossName = keyof typeof losses;

/** Values of the option `loss`. */
export const lossNames = Object.keys(losses) as LossName[];

/** Choice of the loss and its parameters. */
export interface PreferenceLossOptions extends LossParameters {
  readonly loss: LossName;
  /** Weight of the negative log-likelihood of the chosen answer. */
  readonly nll_coefficient: number;
}

/** Returns the entry of a loss. */
export function lossEntry(name: LossName): LossEntry {
  return losses[name];
}

/** Returns the options that only other losses read. */
export function unreadOptions(name: LossName): LossEntry["options"] {
  const all = Object.values<LossEntry>(losses).flatMap(({ options }) => options);
  return [...new Set(all)].filter((option) => !lossEntry(name).options.includes(option));
}

/**
 * Returns the loss of one pair under the loss that the options name, plus nll_coefficient · (-log π_w/|y_w|) (arXiv 2404.19733).
 *
 * @param divergence estimate of KL(π‖ref) in nats, a constant to the gradient
 */
export function preferenceLoss(
  chosen: AnswerLogprobs,
  rejected: AnswerLogprobs,
  options: PreferenceLossOptions,
  divergence = 0,
): PreferenceLoss {
  const preference = lossEntry(options.loss).loss({ chosen, rejected, divergence }, options);
  const { nll_coefficient } = options;
  return {
    loss: preference.loss - (nll_coefficient * chosen.policy) / chosen.tokens,
    chosenSlope: preference.chosenSlope - nll_coefficient / chosen.tokens,
    rejectedSlope: preference.rejectedSlope,
  };
}
