import { ends, mean, percent, recent, series, short, type StageRule } from "../finding.ts";
import { risen } from "./reward-hacking.ts";

/** Share of the answers of the last iterations. */
const COPIED = 0.5;
const EQUAL = 0.8;
/** Rise of such a share from which it is learnt. */
const LEARNT = 0.1;
/** Factor of a drift of the length, and fall of the share of answers in their place. */
const DRIFT = { length: 2, found: 0.1 } as const;

const most =
  (rule: string, metric: string, limit: number, what: string, advice: string): StageRule =>
  ({ iterations }) => {
    const shares = series(iterations, metric);
    const share = mean(recent(shares));
    if (!(share > limit)) return undefined;
    const [graded, turns] = [series(iterations, "answers/found"), mean(recent(series(iterations, "turns/mean")))];
    // The last of several moves is a part of the answer at most.
    if (graded.length === 0 && turns > 1) return undefined;
    const parts = ends(shares);
    const before = parts && mean(parts.first);
    const isPaid = before !== undefined && share - before > LEARNT && risen(series(iterations, "reward/mean"));
    return {
      rule,
      severity: isPaid ? "problem" : "hint",
      what: `${percent(share)} of the answers ${what}${before === undefined ? "" : `, ${percent(before)} at the beginning`}${isPaid ? "; the reward rose with them" : ""}.`,
      advice,
    };
  };

export const copiedAnswers = most(
  "copied-answers",
  "answers/copied",
  COPIED,
  "are copied from the question",
  "Read the best ones (`mrlm show RUN --best`). If they are no answers, the scorer must refuse them: a computation that is left to do, or a text of the question. Give the environment a stricter `watch` (docs/train/rewards.md).",
);

export const equalAnswers = most(
  "equal-answers",
  "answers/constant",
  EQUAL,
  "are one and the same, over different tasks",
  "Read the best ones (`mrlm show RUN --best`). Either the tasks have one answer in common, or the scorer pays a text that is right for none of them.",
);

/** The form of answers changes while they earn no more. */
export const answersDrift: StageRule = ({ iterations }) => {
  const [length, found] = [ends(series(iterations, "length/mean")), ends(series(iterations, "answers/found"))];
  if (risen(series(iterations, "reward/mean")) || series(iterations, "reward/mean").length === 0) return undefined;
  const changes: string[] = [];
  if (length !== undefined) {
    const [before, after] = [mean(length.first), mean(length.last)];
    if (Math.max(after / before, before / after) > DRIFT.length)
      changes.push(`their mean length went from ${short(before)} to ${short(after)} tokens`);
  }
  if (found !== undefined && mean(found.first) - mean(found.last) > DRIFT.found)
    changes.push(`${percent(mean(found.last))} have an answer in its place, ${percent(mean(found.first))} before`);
  if (changes.length === 0) return undefined;
  return {
    rule: "answers-drift",
    severity: "hint",
    what: `The answers change while the reward does not rise: ${changes.join(", and ")}.`,
    advice:
      "Read the newest ones (`mrlm show RUN`). Hold the policy near its start (kl_coefficient), lower learning_rate, or reward the form.",
  };
};
