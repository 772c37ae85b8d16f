import { mean, percent, recent, series, short, type StageRule } from "../finding.ts";
import type { RunRecord } from "../run-record.ts";

/** Share of turns that the token limit ended. */
export const CUT = 0.2;
/** Of the episodes of an iteration. */
export const LOST = { hint: 0.001, problem: 0.05 } as const;
export const VERSION_LAG = 4;

export const truncation: StageRule = ({ iterations }) => {
  const share = mean(recent(series(iterations, "length/cut")));
  if (!(share > CUT)) return undefined;
  const length = mean(recent(series(iterations, "length/mean")));
  return {
    rule: "truncation",
    severity: "problem",
    what: `The token limit cut ${percent(share)} of the turns (mean length ${short(length)} tokens): what they would have earned is unknown.`,
    advice: "Raise sampling.max_tokens (and max_sequence_tokens), leave cut episodes out (on_length: mask), or charge for length (overlong_buffer). A policy that never stops has not learnt its stop token: warm up with sft.",
  };
};

const lost = (name: "failed" | "unscored", advice: string): StageRule => ({ iterations }, run) => {
  const counted = iterations.filter(({ metrics }) => metrics[`episodes/${name}`] !== undefined && (metrics["episodes/played"] ?? 0) > 0);
  const played = counted.reduce((sum, { metrics }) => sum + (metrics["episodes/played"] as number), 0);
  const share = counted.reduce((sum, { metrics }) => sum + (metrics[`episodes/${name}`] as number), 0) / played;
  if (!(share > LOST.hint)) return undefined;
  return { rule: `episodes-${name}`, severity: share > LOST.problem ? "problem" : "hint", what: `${percent(share)} of the episodes ${name === "failed" ? "failed" : "could not be scored"}; nothing is learnt from them.${mostFrequent(run)}`, advice };
};

export const failedEpisodes = lost("failed", "Read the error above; `select error_code, error_message from trajectories` lists all. Environments that are slow need longer deadlines.");
export const unscoredEpisodes = lost("unscored", "The scorer, judge or sandbox behind the reward was not there, or broke. What it says is with the episodes in trajectories.sqlite.");

export const versionLag: StageRule = ({ iterations }) => {
  const lag = mean(recent(series(iterations, "versions/lag")));
  if (!(lag > VERSION_LAG)) return undefined;
  return {
    rule: "version-lag",
    severity: "hint",
    what: `Tokens of one batch were sampled by weights up to ${short(lag)} versions apart.`,
    advice: "Set max_staleness, or correct for it (old_policy: sampler, or mismatch: truncate).",
  };
};

function mostFrequent({ failures }: RunRecord): string {
  const [first] = failures;
  return first === undefined ? "" : ` Most often: ${first.code}: ${first.message.slice(0, 200)} (${first.episodes} episodes).`;
}
