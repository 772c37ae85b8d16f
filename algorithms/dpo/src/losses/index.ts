import { hinge } from "./hinge.ts";
import { ipo } from "./ipo.ts";
import { kto } from "./kto.ts";
import { orpo } from "./orpo.ts";
import {
  type AnswerLogprobs,
  isPresent,
  type LossParameters,
  type PairLoss,
  type PreferenceLoss,
} from "./pair-loss.ts";
import { sigmoid } from "./sigmoid.ts";
import { simpo } from "./simpo.ts";

/** A preference loss with its requirements. */
export interface LossEntry {
  readonly loss: PairLoss;
  /** `reference`: log-probabilities of the reference. `divergence`: also an estimate of KL(π‖ref) for each batch. */
  readonly needs: "nothing" | "reference" | "divergence";
  /** Whether the implicit reward is a mean over the tokens of the answer; else it is their sum. */
  readonly isMean: boolean;
  /** Whether the loss is defined for single answers. */
  readonly takesSingles: boolean;
  /** Options that the loss reads in addition to `beta`. Other options are rejected. */
  readonly options: readonly Exclude<keyof LossParameters, "beta">[];
}

/** Preference losses by the value of the option `loss`. */
const losses = {
  sigmoid: { loss: sigmoid, needs: "reference", isMean: false, takesSingles: false, options: ["label_smoothing"] },
  hinge: { loss: hinge, needs: "reference", isMean: false, takesSingles: false, options: [] },
  ipo: { loss: ipo, needs: "reference", isMean: true, takesSingles: false, options: [] },
  simpo: {
    loss: simpo,
    needs: "nothing",
    isMean: true,
    takesSingles: false,
    options: ["label_smoothing", "simpo_margin"],
  },
  orpo: { loss: orpo, needs: "nothing", isMean: true, takesSingles: false, options: [] },
  kto: {
    loss: kto,
    needs: "divergence",
    isMean: false,
    takesSingles: true,
    options: ["kto_desirable_weight", "kto_undesirable_weight"],
  },
} satisfies Record<string, LossEntry>;

/** A value of the option `loss`. */
export type LossName = keyof typeof losses;

/** Values of the option `loss`. */
export const lossNames = Object.keys(losses) as LossName[];

/** Choice of the loss and its parameters. */
export interface PreferenceLossOptions extends LossParameters {
  /** A loss of the table, or one of another package. */
  readonly loss: LossName | OwnLossEntry;
  /** Weight of the negative log-likelihood of the chosen answer. */
  readonly nll_coefficient: number;
}

/** Loss of another package, with the name for messages. */
export interface OwnLossEntry extends LossEntry {
  readonly name: string;
}

export function lossEntry(loss: LossName | OwnLossEntry): LossEntry {
  return typeof loss === "string" ? losses[loss] : loss;
}

/** Returns the name of a loss for messages. */
export function lossName(loss: LossName | OwnLossEntry): string {
  return typeof loss === "string" ? loss : loss.name;
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
  const likelihood = isPresent(chosen) ? options.nll_coefficient / chosen.tokens : 0;
  return {
    loss: preference.loss - likelihood * chosen.policy,
    chosenSlope: preference.chosenSlope - likelihood,
    rejectedSlope: preference.rejectedSlope,
  };
}
