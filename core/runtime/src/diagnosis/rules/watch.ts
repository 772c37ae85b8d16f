import { ends, mean, percent, recent, series, short, type StageRule } from "../finding.ts";
import { OTHERS } from "../stage-views.ts";
import { CHANGE, risen } from "./reward-hacking.ts";

/** Share of the reward that the watch does not confirm. */
const UNCONFIRMED = 0.5;
/** Share of the time that the watch adds. */
const WATCH_SHARE = 0.1;
/** Unscored episodes of a policy beside those of others: share, and factor. */
const UNSCORED = { share: 0.01, factor: 2 } as const;

/** The reward rises on the watched episodes, and their second score does not rise by half as much. */
export const watchGap: StageRule = ({ iterations }) => {
  const gaps = series(iterations, "watch/gap");
  const watched = series(iterations, "watch/reward");
  const paid = gaps.map((gap, i) => gap + (watched[i] as number));
  const [gap, earned, confirmed] = [ends(gaps), ends(paid), ends(watched)];
  if (gap === undefined || earned === undefined || confirmed === undefined) return undefined;
  const moved = (of: NonNullable<typeof gap>): string => `from ${short(mean(of.first))} to ${short(mean(of.last))}`;
  const opened = mean(gap.last) - mean(gap.first);
  const advice =
    "Read the episodes that the two disagree about (`mrlm score --run RUN --scorer ID` lists them). Make the scorer refuse such answers (docs/train/rewards.md) and start again: the policy has learnt them. Where the watch is wrong, correct the watch.";
  if (risen(paid) && opened > (mean(earned.last) - mean(earned.first)) / 2 && isBeyondNoise(gaps, gap))
    return {
      rule: "watch-gap",
      severity: "problem",
      what: `The reward of the watched episodes went ${moved(earned)}, and the one of the watch ${moved(confirmed)}: the policy learns what the scorer pays, not the task.`,
      advice,
    };
  const [level, of] = [mean(recent(gaps)), mean(recent(paid))];
  if (!(level > UNCONFIRMED * Math.abs(of) && level >= CHANGE)) return undefined;
  return {
    rule: "watch-gap",
    severity: "hint",
    what: `The reward of the watched episodes is ${short(of)}, and the one of the watch ${short(of - level)}: the two disagree about most of the reward.`,
    advice,
  };
};

/**
 * Whether the means of both ends of a series differ by more than two standard errors. Its noise is that of successive differences, which a trend does not enter
 * (von Neumann 1941): a hole may be learnt within the first end.
 */
function isBeyondNoise(values: readonly number[], { first, last }: NonNullable<ReturnType<typeof ends>>): boolean {
  const squares = values.slice(1).map((value, i) => (value - (values[i] as number)) ** 2 / 2);
  return mean(last) - mean(first) > 2 * Math.sqrt(mean(squares) * (1 / first.length + 1 / last.length));
}

/** A policy's episodes end unscored more often than those of the other policies of its stage. */
export const unscoredByPolicy: StageRule = ({ iterations }) => {
  const sum = (name: string): number => series(iterations, name).reduce((total, each) => total + each, 0);
  // Each agent of an episode has a score of its own.
  const sharesOf = (prefix: string): readonly [unscored: number, played: number] => [
    sum(`${prefix}episodes/unscored`),
    sum(`${prefix}agents/played`) || sum(`${prefix}episodes/played`),
  ];
  const [own, others] = [sharesOf(""), sharesOf(OTHERS)];
  const [share, usual] = [own[0] / own[1], others[0] / others[1]];
  const pooled = (own[0] + others[0]) / (own[1] + others[1]);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / own[1] + 1 / others[1]));
  if (!(share > UNSCORED.share && share > UNSCORED.factor * usual && share - usual > 3 * error)) return undefined;
  return {
    rule: "unscored-by-policy",
    severity: "problem",
    what: `${percent(share)} of its episodes end unscored, and ${percent(usual)} of those of the other policies: it can choose whether it is graded.`,
    advice:
      "Read them (`mrlm show RUN --failed`). What a policy causes is wrong, not unscored: an answer that cannot be read earns what a wrong one earns.",
  };
};

export const watchBound: StageRule = ({ iterations }) => {
  const sum = (phase: string): number => iterations.reduce((spent, { seconds }) => spent + (seconds[phase] ?? 0), 0);
  const share = sum("watch") / sum("total");
  if (!(share > WATCH_SHARE)) return undefined;
  return {
    rule: "watch-bound",
    severity: "hint",
    what: `${percent(share)} of the time is spent waiting for the watch after learning.`,
    advice:
      "Lower its `share`, or take a quicker scorer or judge. Episodes that it does not reach in time are in `watch/missed`.",
  };
};
