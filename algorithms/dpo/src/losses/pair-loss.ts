/** Options that losses read. */
export interface LossParameters {
  readonly beta: number;
  readonly label_smoothing: number;
  readonly simpo_margin: number;
  readonly kto_desirable_weight: number;
  readonly kto_undesirable_weight: number;
}

/** Sums of the log-probabilities of one answer's tokens, in nats. */
export interface AnswerLogprobs {
  readonly policy: number;
  /** 0 where the loss has no reference. */
  readonly reference: number;
  /** Number of tokens: at least 1, or 0 for an absent answer. */
  readonly tokens: number;
}

/** A pair of answers. Where single answers are learnt from (KTO), one of the two is absent. */
export interface PairLogprobs {
  readonly chosen: AnswerLogprobs;
  readonly rejected: AnswerLogprobs;
  /** Estimate of KL(π‖ref) in nats, a constant to the gradient; 0 unless the loss needs it. */
  readonly divergence: number;
}

/** Loss of a pair and its derivatives with respect to the policy's two sums: those of each token of the answer. */
export interface PreferenceLoss {
  readonly loss: number;
  readonly chosenSlope: number;
  readonly rejectedSlope: number;
}

/** Preference loss of one pair. */
export type PairLoss = (pair: PairLogprobs, parameters: LossParameters) => PreferenceLoss;

/** Returns false for the answer that a single answer lacks. */
export function isPresent({ tokens }: AnswerLogprobs): boolean {
  return tokens > 0;
}

/** Returns the log-ratio of policy to reference: log π(y|x) - log ref(y|x), summed over the tokens of the answer. */
export function logRatio({ policy, reference }: AnswerLogprobs): number {
  return policy - reference;
}
