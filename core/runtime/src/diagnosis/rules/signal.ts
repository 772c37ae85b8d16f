import { ends, isSolved, mean, SOLVED, percent, recent, series, short, type StageRule } from "../finding.ts";
import type { IterationRecord } from "../run-record.ts";

/** Largest share of groups without two different rewards. Above it, most episodes give no gradient. */
export const WITHOUT_SIGNAL = 0.6;
/** Number of standard errors below which a change of the reward over the stage counts as noise. */
const FLAT = 2;
/** Number of standard errors of the first iteration's mean. They treat its episodes as independent, but those of a group are not. */
const COLLAPSE = 6;

export const groupsWithoutSignal: StageRule = ({ iterations }) => {
  const values = recent(series(iterations, "groups/without_signal"));
  const share = mean(values);
  if (!(share > WITHOUT_SIGNAL)) return undefined;
  // Every episode of a solved task has the highest reward.
  if (isSolved(iterations)) return undefined;
  const reward = mean(recent(series(iterations, "reward/mean")));
  const never = series(iterations, "reward/std").every((deviation) => deviation === 0);
  return {
    rule: "groups-without-signal",
    severity: "problem",
    what: never
      ? `Every episode of the stage earned exactly ${short(reward)}: the answers of the policy make no difference.`
      : `In ${percent(share)} of the groups all episodes earned the same (mean reward ${short(reward)}): they give no gradient.`,
    advice: never
      ? "Check whether the scorer distinguishes a good answer from a bad one (`mrlm score`, the environment's gold fixture), and read some answers (`mrlm show RUN`): a task that is too hard gives 0 to all. Then warm up with sft, use easier tasks, or reward partial solutions."
      : "If the tasks are too hard, warm up with sft, use easier ones, or reward partial solutions. If they are too easy, use harder ones. Larger groups or dynamic_sampling find more differences.",
  };
};

export const flatReward: StageRule = ({ iterations }) => {
  const parts = ends(series(iterations, "reward/mean"));
  if (parts === undefined || iterations.length < 20) return undefined;
  const [before, after] = [mean(parts.first), mean(parts.last)];
  const error = Math.sqrt(variance(parts.first) / parts.first.length + variance(parts.last) / parts.last.length);
  if (after >= SOLVED || Math.abs(after - before) > Math.max(FLAT * error, 0.005)) return undefined;
  return {
    rule: "flat-reward",
    severity: "problem",
    what: `The mean reward went from ${short(before)} to ${short(after)} in ${iterations.length} iterations, which is within its noise.`,
    advice:
      "Raise learning_rate three- to tenfold, or sample more prompts in each step; then check whether the rewarded answers are right (`mrlm show RUN --best`).",
  };
};

export const fallingReward: StageRule = ({ iterations }) => {
  const rewards = series(iterations, "reward/mean");
  const parts = ends(rewards);
  if (parts === undefined) return undefined;
  const after = mean(parts.last);
  const lost = collapse(iterations, after) ?? decline(parts);
  if (lost === undefined) return undefined;
  const isGone = after < lost.before / 2;
  return {
    rule: "falling-reward",
    severity: "problem",
    what: `The mean reward fell from ${short(lost.before)} to ${short(after)}${lost.within === undefined ? "" : `, most of it by iteration ${lost.within + 1}`}.`,
    advice: `${isGone ? "Lower learning_rate ten- to a hundredfold: the updates destroyed the policy" : "Lower learning_rate"}. Do not divide advantages by the group's standard deviation (scale: none), or hold the policy near its start with kl_coefficient; keep max_grad_norm at 1.`,
  };
};

/** Detects a loss of the first iteration's reward. Uses the noise of its own episodes, because no later iteration may be comparable. */
function collapse(
  iterations: readonly IterationRecord[],
  after: number,
): { readonly before: number; readonly within: number } | undefined {
  const played = iterations.filter(({ metrics }) => metrics["reward/mean"] !== undefined);
  const {
    "reward/mean": before = Number.NaN,
    "reward/std": deviation = 0,
    "episodes/played": episodes = 1,
  } = played[0]?.metrics ?? {};
  if (!(before - after > Math.max((COLLAPSE * deviation) / Math.sqrt(episodes), 0.02))) return undefined;
  return {
    before,
    within: played.findIndex(({ metrics }) => (metrics["reward/mean"] as number) < (before + after) / 2),
  };
}

function decline({
  first,
  last,
}: {
  readonly first: readonly number[];
  readonly last: readonly number[];
}): { readonly before: number; readonly within?: undefined } | undefined {
  const error = Math.sqrt(variance(first) / first.length + variance(last) / last.length);
  return mean(first) - mean(last) > Math.max(3 * error, 0.02) ? { before: mean(first) } : undefined;
}

function variance(values: readonly number[]): number {
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / Math.max(1, values.length - 1);
}
