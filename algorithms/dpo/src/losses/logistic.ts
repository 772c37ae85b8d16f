/** Returns σ(x) = 1 / (1 + e^-x), without overflow. */
export function logistic(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

/** Returns -(1-ε) log σ(u) - ε log σ(-u) and its derivative. */
export function logisticLoss(u: number, smoothing: number): { loss: number; slope: number } {
  return { loss: (1 - smoothing) * softplus(-u) + smoothing * softplus(u), slope: smoothing - logistic(-u) };
}

/** Returns log(1 + e^x), without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}
