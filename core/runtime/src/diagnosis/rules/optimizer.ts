import { isSolved, mean, median, percent, recent, series, short, type StageRule } from "../finding.ts";

/** A norm above this many times the median of the iterations before it is a spike. */
export const SPIKE = 10;
/** Number of iterations for the median. */
const WINDOW = 20;
/** Below 0 by more than the noise of a critic that predicts 0 (measured: 0.005). */
export const EXPLAINED_VARIANCE = -0.05;
export const SKIPPED = 0.02;

export const gradientSpikes: StageRule = ({ iterations }) => {
  const norms = series(iterations, "optim/grad_norm");
  const before = (i: number): number => median(norms.slice(Math.max(0, i - WINDOW), i));
  const spikes = norms.filter((norm, i) => i >= 5 && norm > SPIKE * before(i) && before(i) > 0);
  if (norms.length < 10 || spikes.length === 0) return undefined;
  return {
    rule: "gradient-spikes",
    severity: spikes.length > 0.05 * norms.length ? "problem" : "hint",
    what: `The gradient norm was above ${SPIKE} times its recent median in ${spikes.length} of ${norms.length} iterations, ${short(Math.max(...spikes))} at most.`,
    advice:
      "Keep max_grad_norm at 1 or lower, add warmup_steps, lower learning_rate, and look at the episodes of those iterations for rewards of another size.",
  };
};

export const skippedSteps: StageRule = ({ iterations }) => {
  const values = series(iterations, "optim/skipped");
  const skipped = values.filter((value) => value > 0).length;
  if (skipped === 0) return undefined;
  return {
    rule: "skipped-steps",
    severity: skipped > SKIPPED * values.length ? "problem" : "hint",
    what: `Optimizer steps were skipped in ${skipped} of ${values.length} iterations: their gradient was not finite.`,
    advice:
      "Lower learning_rate; in float16 or bfloat16 set model.float32_head, or train in float32. The notices in metrics.jsonl name the steps.",
  };
};

export const explainedVariance: StageRule = ({ iterations }) => {
  const values = series(iterations, "value/explained_variance");
  const value = mean(recent(values));
  if (values.length < 20 || !(value < EXPLAINED_VARIANCE)) return undefined;
  return {
    rule: "explained-variance",
    severity: "problem",
    what: `The critic's explained variance is ${short(value)} after ${values.length} iterations: it is worse than a constant.`,
    advice:
      "Let the critic learn first (critic_warmup_steps), raise its share (value_coefficient, more epochs), or give it a backbone of its own. With episodes that earn the same, there is nothing to explain.",
  };
};

export const learningStopped: StageRule = ({ iterations }) => {
  const norms = recent(series(iterations, "optim/grad_norm"));
  const share = norms.filter((norm) => norm === 0).length / norms.length;
  if (!(share > 0.5) || isSolved(iterations)) return undefined;
  return {
    rule: "no-gradient",
    severity: "problem",
    what: `The gradient was zero in ${percent(share)} of the last iterations: nothing is learnt any more.`,
    advice: "All advantages are zero: see groups without signal.",
  };
};
