import type { PlayTally } from "@mrlm/runtime";
import { count, duration, grouped, percent } from "./numbers.ts";
import type { ProgressBar } from "./progress-bar.ts";

/**
 * Returns a function that draws the progress of the episodes that are played from this call on: the time that the rest takes, tokens a second, cut answers, and
 * the shares of sampler and environment in the time for which episodes waited. Its first number is that of the episodes in complete groups; the line counts
 * those of other groups too.
 * @param clock milliseconds; for tests
 */
export function playProgress(
  bar: ProgressBar,
  tally: PlayTally,
  clock = (): number => performance.now(),
): (done: number, total: number) => void {
  const [before, began] = [tally.copy(), clock()];
  // A collection that continues begins with episodes.
  let earlier: number | undefined;
  return (complete, total) => {
    const first = (earlier ??= complete);
    // The line of the end is drawn once.
    const ended = (): number => Math.min(total - 1, first + tally.since(before).episodes);
    const done = (): number => Math.max(complete, ended());
    bar.update(done, total, () =>
      playText(tally, before, { first, done: done(), total, seconds: (clock() - began) / 1000 }),
    );
  };
}

function playText(
  tally: PlayTally,
  before: PlayTally,
  { first, done, total, seconds }: Readonly<Record<"first" | "done" | "total" | "seconds", number>>,
): string {
  const { tokens, cut, answers, samplingSeconds, environmentSeconds } = tally.since(before);
  const sampling = samplingSeconds / (samplingSeconds + environmentSeconds);
  const parts = [
    "episodes",
    done > first && done < total && `left ${duration((seconds / (done - first)) * (total - done))}`,
    tokens > 0 && `${rate(tokens, seconds)}  ${grouped(tokens)} tokens`,
    cut > 0 && `${percent(cut / answers)} cut answers`,
    done < total && tally.underWay > 0 && `${count(tally.underWay, "answer")} under way`,
    Number.isFinite(sampling) && `sampling ${percent(sampling)}  environment ${percent(1 - sampling)}`,
    duration(seconds),
  ];
  return parts.filter((part) => part !== false).join("  ");
}

/** Formats a number of tokens for the time in which they were sampled or computed. */
export function rate(tokens: number, seconds: number): string {
  const each = tokens / Math.max(1e-3, seconds);
  return `${each < 10 ? each.toFixed(1) : grouped(Math.round(each))} tokens/s`;
}
