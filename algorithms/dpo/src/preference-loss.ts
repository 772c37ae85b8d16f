/** The choice of loss and its parameters. */
export interface PreferenceLossOptions {
  readonly loss: "sigmoid" | "hinge" | "ipo" | "simpo" | "kto";
  readonly beta: number;
  readonly label_smoothing: number;
  readonly simpo_margin: number;
  readonly kto_desirable_weight: number;
  readonly kto_undesirable_weight: number;
  readonly nll_coefficient: number;
}

/** One answer: the sums of its tokens' log-probabilities. */
export interface AnswerLogprobs {
  readonly policy: number;
  /** 0 where the loss has no reference. */
  readonly reference: number;
  /** Tokens, at least 1. */
  readonly tokens: number;
}

/** A pair's loss with its derivatives with respect to the two sums of the policy: those of each token of the answer. */
export interface PreferenceLoss {
  readonly loss: number;
  readonly chosenSlope: number;
  readonly rejectedSlope: number;
}

/**
 * Loss of one pair. r = logπ(y|x) - logref(y|x), summed over the answer's tokens; |y| is their number:
 *
 *     sigmoid  -(1-ε) log σ(u) - ε log σ(-u),   u = β (r_w - r_l)                      arXiv 2305.18290; ε > 0 is cDPO
 *     hinge    max(0, 1 - u)                                                           arXiv 2305.10425
 *     ipo      (r_w/|y_w| - r_l/|y_l| - 1/(2β))²                                        arXiv 2310.12036
 *     simpo    as sigmoid at u = β (logπ_w/|y_w| - logπ_l/|y_l|) - γ, without reference  arXiv 2405.14734
 *     kto      λ_w (1 - σ(β (r_w - z))) + λ_l (1 - σ(β (z - r_l)))                     arXiv 2402.01306
 *
 * To each nll_coefficient · (-logπ_w/|y_w|) is added (arXiv 2404.19733).
 *
 * @param divergence z of kto: an estimate of KL(π‖ref), taken as a constant
 */
export function preferenceLoss(
  chosen: AnswerLogprobs,
  rejected: AnswerLogprobs,
  options: PreferenceLossOptions,
  divergence = 0,
): PreferenceLoss {
  const { loss, chosenSlope, rejectedSlope } = withoutLikelihood(chosen, rejected, options, divergence);
  const { nll_coefficient } = options;
  return {
    loss: loss - (nll_coefficient * chosen.policy) / chosen.tokens,
    chosenSlope: chosenSlope - nll_coefficient / chosen.tokens,
    rejectedSlope,
  };
}

function withoutLikelihood(
  chosen: AnswerLogprobs,
  rejected: AnswerLogprobs,
  options: PreferenceLossOptions,
  divergence: number,
): PreferenceLoss {
  const { beta, label_smoothing: smoothing } = options;
  const [won, lost] = [chosen.policy - chosen.reference, rejected.policy - rejected.reference];
  switch (options.loss) {
    case "sigmoid": {
      const { loss, slope } = logistic(beta * (won - lost), smoothing);
      return { loss, chosenSlope: beta * slope, rejectedSlope: -beta * slope };
    }
    case "hinge": {
      const margin = 1 - beta * (won - lost);
      const slope = margin > 0 ? -beta : 0;
      return { loss: Math.max(0, margin), chosenSlope: slope, rejectedSlope: -slope };
    }
    case "ipo": {
      const distance = won / chosen.tokens - lost / rejected.tokens - 1 / (2 * beta);
      return {
        loss: distance * distance,
        chosenSlope: (2 * distance) / chosen.tokens,
        rejectedSlope: (-2 * distance) / rejected.tokens,
      };
    }
    case "simpo": {
      const margin = beta * (chosen.policy / chosen.tokens - rejected.policy / rejected.tokens) - options.simpo_margin;
      const { loss, slope } = logistic(margin, smoothing);
      return { loss, chosenSlope: (beta * slope) / chosen.tokens, rejectedSlope: (-beta * slope) / rejected.tokens };
    }
    case "kto": {
      const [wanted, unwanted] = [sigmoid(beta * (won - divergence)), sigmoid(beta * (divergence - lost))];
      const { kto_desirable_weight: desirable, kto_undesirable_weight: undesirable } = options;
      return {
        loss: desirable * (1 - wanted) + undesirable * (1 - unwanted),
        chosenSlope: -desirable * beta * wanted * (1 - wanted),
        rejectedSlope: undesirable * beta * unwanted * (1 - unwanted),
      };
    }
  }
}

/** -(1-ε) log σ(u) - ε log σ(-u) and its derivative. */
function logistic(u: number, smoothing: number): { loss: number; slope: number } {
  return { loss: (1 - smoothing) * softplus(-u) + smoothing * softplus(u), slope: smoothing - sigmoid(-u) };
}

function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}
