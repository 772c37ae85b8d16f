import { ends, mean, percent, recent, series, short, type StageRule } from "../finding.ts";

/** More groups than this without two different rewards: most of what is sampled teaches nothing. */
export const WITHOUT_SIGNAL = 0.6;
/** A reward that moved by less than this many of its standard errors over the stage did not move. */
const FLAT = 2;

export const groupsWithoutSignal: StageRule = ({ iterations }) => {
  const values = recent(series(iterations, "groups/without_signal"));
  const share = mean(values);
  if (!(share > WITHOUT_SIGNAL)) return undefined;
  const reward = mean(recent(series(iterations, "reward/mean")));
  return {
    rule: "groups-without-signal",
    severity: "problem",
    what: `In ${percent(share)} of the groups all episodes earned the same (mean reward ${short(reward)}): they teach nothing.`,
    advice: "If the tasks are too hard, warm up with sft, take easier ones, or give a reward for part of the way. If they are too easy, take harder ones. Larger groups or dynamic_sampling find more differences.",
  };
};

export const flatReward: StageRule = ({ iterations }) => {
  const parts = ends(series(iterations, "reward/mean"));
  if (parts === undefined || iterations.length < 20) return undefined;
  const [before, after] = [mean(parts.first), mean(parts.last)];
  const error = Math.sqrt(variance(parts.first) / parts.first.length + variance(parts.last) / parts.last.length);
  const isTop = after >= 0.99;
  if (isTop || Math.abs(after - before) > Math.max(FLAT * error, 0.005)) return undefined;
  return {
    rule: "flat-reward",
    severity: "problem",
    what: `The mean reward went from ${short(before)} to ${short(after)} in ${iterations.length} iterations, which is within its noise.`,
    advice: "Look at the other findings first. If there are none, raise learning_rate three- to tenfold, or sample more prompts in each step; then see in the trajectories whether the rewarded answers are what you want.",
  };
};

export const fallingReward: StageRule = ({ iterations }) => {
  const parts = ends(series(iterations, "reward/mean"));
  if (parts === undefined) return undefined;
  const [before, after] = [mean(parts.first), mean(parts.last)];
  const error = Math.sqrt(variance(parts.first) / parts.first.length + variance(parts.last) / parts.last.length);
  if (before - after <= Math.max(3 * error, 0.02)) return undefined;
  return {
    rule: "falling-reward",
    severity: "problem",
    what: `The mean reward fell from ${short(before)} to ${short(after)}.`,
    advice: "Lower learning_rate, do not divide advantages by the group's standard deviation (scale: none), or hold the policy near its start with kl_coefficient.",
  };
};

function variance(values: readonly number[]): number {
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / Math.max(1, values.length - 1);
}
