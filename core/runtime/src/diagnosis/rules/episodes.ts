import type { CauseCount } from "@mrlm/store";
import { failureAdvice, unscoredAdvice } from "../../evaluation/failure-advice.ts";
import { OUT_OF_RANGE, OUT_OF_RANGE_NOTICE } from "../../rollouts/reward-watch.ts";
import { mean, percent, recent, series, short, type StageRule } from "../finding.ts";

/** Share of the answers that `max_tokens` cut. */
export const CUT = 0.2;
/** Share of episodes that a limit ended: some environments are cut at the last turn by design. */
export const LIMITED = 0.5;
/** Share of the episodes of an iteration. */
export const LOST = { hint: 0.001, problem: 0.05 } as const;
/** Share of the conversations or chosen answers that are learnt. */
export const CUT_TARGETS = 0.05;
export const VERSION_LAG = 4;

/** Whether the answers have one token, by `max_tokens: 1`: an answer that ends by itself would be empty, so that the limit is the form of the answers. */
export function hasOneToken(iterations: Parameters<typeof series>[0]): boolean {
  return mean(recent(series(iterations, "length/mean"))) <= 1;
}

export const truncation: StageRule = ({ iterations }) => {
  const shares = series(iterations, "length/cut");
  const [before = 0] = shares;
  const share = mean(recent(shares));
  if (!(share > CUT)) return undefined;
  if (hasOneToken(iterations)) return undefined;
  const length = mean(recent(series(iterations, "length/mean")));
  return {
    rule: "truncation",
    severity: "problem",
    what: `max_tokens cut ${percent(share)} of the answers${before < CUT ? `, ${percent(before)} at the beginning` : ""} (mean length ${short(length)} tokens): what they would have earned is unknown.`,
    advice:
      "Raise sampling.max_tokens (and max_sequence_tokens), leave out episodes with a cut answer (on_length: mask), or charge for length (overlong_buffer). A policy that never stops has not learnt its stop token: warm up with sft.",
  };
};

/** Share of the calls of tools that are malformed. */
export const MALFORMED = 0.1;
export const MALFORMED_ADVICE =
  "See the faults by `mrlm show`. Set `tool_format` of the model to the form that it was trained with, leave room for whole calls (sampling.max_tokens), or warm up with sft on demonstrations with calls.";

export const malformedCalls: StageRule = ({ iterations }) => {
  const malformed = mean(recent(series(iterations, "tools/malformed")));
  const names = new Set(iterations.flatMap(({ metrics }) => Object.keys(metrics)));
  const calls = [...names]
    .filter((name) => /^tools\/[^/]+\/calls$/.test(name))
    .reduce((sum, name) => sum + mean(recent(series(iterations, name))), 0);
  const share = malformed / (malformed + calls);
  if (!(share > MALFORMED)) return undefined;
  return {
    rule: "malformed-calls",
    severity: "problem",
    what: `${percent(share)} of the calls of tools are malformed and were not run (${short(malformed)} an episode).`,
    advice: MALFORMED_ADVICE,
  };
};

export const limitedEpisodes: StageRule = ({ iterations }) => {
  const share = mean(recent(series(iterations, "episodes/truncated")));
  if (!(share > LIMITED)) return undefined;
  return {
    rule: "episodes-limited",
    severity: "hint",
    what: `A limit of turns or of the context ended ${percent(share)} of the episodes before their environment did.`,
    advice:
      "See that the environment ends its episodes (`terminated: true`), and that its max_turns, the context (sampling.max_sequence_tokens, the model's positions) and sampling.max_tokens leave room for whole ones.",
  };
};

export const cutTargets: StageRule = ({ iterations }) => {
  const cut = (["length/cut_targets", "length/chosen_cut"] as const)
    .map((name) => [name, mean(recent(series(iterations, name)))] as const)
    .find(([, share]) => share > CUT_TARGETS);
  if (cut === undefined) return undefined;
  const [name, share] = cut;
  return {
    rule: "cut-targets",
    severity: "problem",
    what: `${percent(share)} of the ${name === "length/chosen_cut" ? "chosen answers" : "conversations"} that are learnt have no stop token at their end: the policy learns to continue without an end.`,
    advice:
      name === "length/chosen_cut"
        ? "Raise sampling.max_tokens where the episodes are played, or leave cut ones out of the file."
        : "Raise max_length, or choose on_overlong: skip, so that what is too long is left out rather than cut. Of recorded episodes keep those that ended by themselves.",
  };
};

const lost =
  (name: "failed" | "unscored", advice: string): StageRule =>
  ({ iterations }, run) => {
    const counted = iterations.filter(
      ({ metrics }) => metrics[`episodes/${name}`] !== undefined && (metrics["episodes/played"] ?? 0) > 0,
    );
    // Each agent of an episode has a score of its own.
    const size = (metrics: Readonly<Record<string, number>>): number | undefined =>
      (name === "unscored" ? metrics["agents/played"] : undefined) ?? metrics["episodes/played"];
    const played = counted.reduce((sum, { metrics }) => sum + (size(metrics) as number), 0);
    const share = counted.reduce((sum, { metrics }) => sum + (metrics[`episodes/${name}`] as number), 0) / played;
    if (!(share > LOST.hint)) return undefined;
    const causes = run[name === "failed" ? "failures" : "unscored"];
    return {
      rule: `episodes-${name}`,
      severity: share > LOST.problem ? "problem" : "hint",
      what: `${percent(share)} of the episodes ${name === "failed" ? "failed" : "could not be scored"}; nothing is learnt from them.${mostFrequent(causes)}`,
      advice: (name === "failed" ? failureAdvice : unscoredAdvice)(causes[0]?.code ?? "", advice),
    };
  };

export const failedEpisodes = lost(
  "failed",
  "Read the error above; `mrlm show RUN --failed` prints the episodes. Environments that are slow need longer deadlines.",
);
export const unscoredEpisodes = lost(
  "unscored",
  "The scorer, judge or sandbox of the reward was missing or failed. Its error is above, and `mrlm show RUN --failed` prints it with each episode. Repair it first; `mrlm score` tries a scorer without a run.",
);

/** Advice about rewards outside of their range. */
export const RANGE_ADVICE =
  "Correct the reward of the environment, or the rewardRange that it states. Rewards of another size change the size of advantages and gradients; a lower learning rate does not repair that.";

export const rewardsOutOfRange: StageRule = ({ iterations }, run) => {
  const counts = series(iterations, OUT_OF_RANGE);
  const count = counts.reduce((sum, each) => sum + each, 0);
  if (count === 0) return undefined;
  const notices = [iterations, ...run.stages.map((stage) => stage.iterations)].flat();
  const first = notices.flatMap((each) => each.notices ?? []).find((text) => text.startsWith(OUT_OF_RANGE_NOTICE));
  return {
    rule: "rewards-out-of-range",
    severity: "problem",
    what: `${count} rewards of episodes, in ${counts.length} of ${iterations.length} iterations, are outside of the range that their environment states.${first === undefined ? "" : ` The first:${first.slice(OUT_OF_RANGE_NOTICE.length)}`}`,
    advice: RANGE_ADVICE,
  };
};

export const versionLag: StageRule = ({ iterations }) => {
  const lag = mean(recent(series(iterations, "versions/lag")));
  // Importance weights are what the advice would ask for.
  if (!(lag > VERSION_LAG) || mean(recent(series(iterations, "mismatch/corrected"))) > 0) return undefined;
  return {
    rule: "version-lag",
    severity: "hint",
    what: `Tokens of one batch were sampled by weights up to ${short(lag)} versions apart.`,
    advice: "Set max_staleness, or correct for it (mismatch: truncate, or old_policy: sampler).",
  };
};

/** Describes the most frequent cause, and the number of episodes of every other code. */
function mostFrequent([first, ...rest]: readonly CauseCount[]): string {
  if (first === undefined) return "";
  const others = new Map<string, number>();
  for (const { code, episodes } of rest) if (code !== first.code) others.set(code, (others.get(code) ?? 0) + episodes);
  const list = Array.from(others, ([code, episodes]) => `${code} (${episodes})`).join(", ");
  return ` Most often: ${first.code}: ${first.message.slice(0, 200).replace(/\.$/, "")} (${first.episodes} episodes).${list === "" ? "" : ` Also: ${list}.`}`;
}
