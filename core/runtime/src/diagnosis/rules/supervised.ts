import { mean, percent, recent, series, short, type StageRule } from "../finding.ts";

/** Largest final loss, as a multiple of the first one, at which a stage counts as learning. */
export const RISEN = 1.2;
/** Nats a token that the chosen answers may lose. */
export const DISPLACED = 0.5;
export const ACCURACY = 0.55;

/** SFT: the likelihood of the targets or of the observations fell. */
export const risingLoss: StageRule = ({ iterations }) => {
  for (const name of ["loss/nll", "loss/nll_observed"]) {
    const losses = series(iterations, name);
    const [before = Number.NaN] = losses;
    const after = mean(recent(losses));
    if (losses.length < 10 || !(after > RISEN * before && after - before > 0.1)) continue;
    return {
      rule: "rising-loss",
      severity: "problem",
      what: `The loss (${name}) rose from ${short(before)} to ${short(after)} nats a token, ${short(Math.max(...losses))} at most: training diverged.`,
      advice: "Lower learning_rate ten- to a hundredfold, add warmup_steps, and keep max_grad_norm at 1.",
    };
  }
  return undefined;
};

/** DPO: the policy does not distinguish chosen from rejected answers. */
export const pairsNotLearnt: StageRule = ({ iterations }) => {
  const accuracies = series(iterations, "preference/accuracy");
  const accuracy = mean(recent(accuracies));
  if (accuracies.length < 20 || !(accuracy < ACCURACY)) return undefined;
  const losses = series(iterations, "loss/preference");
  const hasDiverged = Math.max(...losses) > RISEN * (losses[0] as number);
  return {
    rule: "pairs-not-learnt",
    severity: "problem",
    what: `After ${accuracies.length} steps the policy prefers the chosen answer in ${percent(accuracy)} of the pairs: chance is 50 %.${hasDiverged ? ` The loss rose from ${short(losses[0] as number)} to ${short(Math.max(...losses))}.` : ""}`,
    advice: hasDiverged
      ? "Lower learning_rate ten- to a hundredfold."
      : "Raise learning_rate three- to tenfold, or beta; read some pairs: are the chosen answers better, and could the policy know?",
  };
};

/** DPO: the margin grows because the likelihood of rejected answers falls faster, while that of chosen ones falls too. */
export const likelihoodDisplacement: StageRule = ({ iterations }) => {
  const chosen = series(iterations, "logprob/chosen");
  const [before, after] = [mean(chosen.slice(0, 3)), mean(recent(chosen))];
  if (chosen.length < 20 || !(before - after > DISPLACED)) return undefined;
  return {
    rule: "likelihood-displacement",
    severity: "hint",
    what: `The chosen answers lost ${short(before - after)} nats a token (${short(before)} to ${short(after)}): what is preferred becomes less likely too, and something else more.`,
    advice:
      "Set nll_coefficient: 1, lower learning_rate, raise beta, or end earlier. Compare sampled answers, not greedy ones alone.",
  };
};
