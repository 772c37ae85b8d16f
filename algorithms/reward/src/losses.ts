/** Loss of one example, and its derivative with respect to each of its scores. */
export interface ScoreLoss {
  readonly loss: number;
  readonly slopes: readonly number[];
}

/**
 * Computes the loss of a pair by the model of Bradley and Terry (InstructGPT, arXiv 2203.02155), with the margin m of Llama 2 (arXiv 2307.09288) and the
 * centring of arXiv 2312.09244:
 *
 *     -log σ(s_w - s_l - m) + c (s_w + s_l)²
 *
 * @param scores s_w of the chosen answer and s_l of the rejected one
 * @param center weight c
 */
export function pairLoss([chosen, rejected]: readonly [number, number], margin: number, center: number): ScoreLoss {
  const distance = chosen - rejected - margin;
  const sum = chosen + rejected;
  const pull = sigmoid(-distance);
  return {
    loss: softplus(-distance) + center * sum * sum,
    slopes: [2 * center * sum - pull, 2 * center * sum + pull],
  };
}

/**
 * Computes the loss of judged steps, a sum over them (process reward models, arXiv 2305.20050). The score of a step is the logit of its being right:
 *
 *     Σ_k -y_k log σ(s_k) - (1 - y_k) log(1 - σ(s_k))
 *
 * @param labels y_k in [0, 1]
 */
export function stepLoss(scores: readonly number[], labels: readonly number[]): ScoreLoss {
  const losses = scores.map((score, k) => softplus(score) - (labels[k] as number) * score);
  return {
    loss: losses.reduce((sum, loss) => sum + loss, 0),
    slopes: scores.map((score, k) => sigmoid(score) - (labels[k] as number)),
  };
}

/** Returns σ(x) = 1 / (1 + e^-x). */
export function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

/** Returns log(1 + e^x) without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}
