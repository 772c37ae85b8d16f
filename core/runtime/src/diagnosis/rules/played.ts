import { codeOf, failureAdvice, unscoredAdvice } from "../../evaluation/failure-advice.ts";
import type { MatchSummary } from "../../evaluation/match-tally.ts";
import { type Finding, percent, short } from "../finding.ts";
import { CUT, LIMITED, LOST, MALFORMED, MALFORMED_ADVICE, RANGE_ADVICE } from "./episodes.ts";

/** Counts of the episodes of an evaluation or of `mrlm collect`. */
export interface PlayedEpisodes {
  /** Beginning of a sentence: "The greedy evaluation of math@2 after step 80". */
  readonly source: string;
  readonly episodes: number;
  /** Episodes, or agents of them, that failed, have no score, or were ended by a limit. */
  readonly failed: number;
  /** Agents with a score; `undefined` where it is not recorded. */
  readonly scored?: number | undefined;
  readonly unscored: number;
  readonly truncated: number;
  /** Share of the answers that `max_tokens` cut; `undefined` where it is not recorded. */
  readonly cut: number | null | undefined;
  /** Mean tokens of an episode that the policy chose. */
  readonly tokens: number | null;
  readonly firstError?: string | undefined;
  readonly firstUnscored?: string | undefined;
  readonly outOfRange?: number | undefined;
  readonly firstOutOfRange?: string | undefined;
  /** Calls of each tool in an episode, and malformed calls, which name none. */
  readonly tools?: Readonly<Record<string, { readonly calls: number }>> | undefined;
  readonly malformedCalls?: number | undefined;
  readonly matches?: readonly MatchSummary[] | undefined;
}

/** Returns findings about episodes outside of an iteration, with the thresholds of those within one. */
export function judgePlayed(played: PlayedEpisodes): Finding[] {
  const { source, episodes, failed, unscored, truncated, cut, tokens, firstError, firstUnscored } = played;
  if (episodes === 0) return [];
  const findings: Finding[] = [];
  // Several agents of an episode are each scored and ended.
  const agents = Math.max(episodes - failed, (played.scored ?? 0) + unscored);
  const lost = (rule: string, count: number, what: string, first: string | undefined, advice: string): void => {
    const share = count / (rule === "episodes-failed" ? episodes : Math.max(episodes, agents));
    if (share > LOST.hint)
      findings.push({
        rule,
        severity: share > LOST.problem ? "problem" : "hint",
        what: `${source}: ${percent(share)} of the episodes ${what}.${first === undefined ? "" : ` The first: ${first.slice(0, 200)}`}`,
        advice,
      });
  };
  lost(
    "episodes-failed",
    failed,
    "failed",
    firstError,
    failureAdvice(codeOf(firstError ?? ""), "Correct the environment, or give it longer deadlines if it is slow."),
  );
  lost(
    "episodes-unscored",
    unscored,
    "have no score",
    firstUnscored,
    unscoredAdvice(
      codeOf(firstUnscored ?? ""),
      "Correct the scorer, judge or sandbox that computes the reward; `mrlm score` tries a scorer alone.",
    ),
  );
  if ((played.outOfRange ?? 0) > 0)
    findings.push({
      rule: "rewards-out-of-range",
      severity: "problem",
      what: `${source}: ${played.outOfRange} rewards are outside of the range that the environment states. The first: ${played.firstOutOfRange ?? "unknown"}.`,
      advice: RANGE_ADVICE,
    });
  const { tools = {}, malformedCalls = 0 } = played;
  const calls = Object.values(tools).reduce((sum, tool) => sum + tool.calls, 0);
  const malformed = malformedCalls / (calls + malformedCalls);
  if (malformed > MALFORMED)
    findings.push({
      rule: "malformed-calls",
      severity: "problem",
      what: `${source}: ${percent(malformed)} of the calls of tools are malformed and were not run (${short(malformedCalls)} an episode).`,
      advice: MALFORMED_ADVICE,
    });
  if (typeof cut === "number" && cut > CUT) {
    findings.push({
      rule: "truncation",
      severity: "problem",
      what: `${source}: max_tokens cut ${percent(cut)} of the answers${tokens === null ? "" : ` (mean length ${short(tokens)} tokens)`}. The score of a cut answer is a poor measure of the policy.`,
      advice:
        "Raise sampling.max_tokens (`--max-tokens`). A policy that never stops has not learnt its stop token: warm up with sft.",
    });
  }
  const limited = truncated / Math.max(episodes, agents);
  if (limited > LIMITED) {
    findings.push({
      rule: "episodes-limited",
      severity: "hint",
      what: `${source}: a limit of turns or of the context ended ${percent(limited)} of the episodes before their environment did.`,
      advice:
        "Raise max_turns of the environment, or the context (sampling.max_sequence_tokens, the model's positions). Check that the environment ends its episodes (`terminated: true`).",
    });
  }
  return [...findings, ...judgeMatches(source, played.matches)];
}

/** Share of won games above which an opponent is too weak, and of games not lost below which it is too strong, to learn from. Both are compared with the interval. */
const ONE_SIDED = { won: 0.9, notLost: 0.1 };

/**
 * Finds opponents that a role almost always beats or never beats: equal rewards of a group give no gradient.
 * @param source beginning of a sentence: "The greedy evaluation of nim@1 after step 80"
 */
export function judgeMatches(source: string, matches: readonly MatchSummary[] = []): Finding[] {
  return matches.flatMap(({ role, policy, opponent, games }): Finding[] => {
    if (games?.interval === undefined || games.interval === null) return [];
    const { won, tied, lost, winRate, interval } = games;
    const isBeaten = interval[0] > ONE_SIDED.won;
    if (!isBeaten && !(tied === 0 && interval[1] < ONE_SIDED.notLost)) return [];
    const isSelf = opponent.kind === "policy" && opponent.name === policy;
    const against = isSelf
      ? `itself as ${opponent.role}`
      : `${KINDS[opponent.kind]} ${opponent.name} as ${opponent.role}`;
    return [
      {
        rule: "one-sided",
        severity: "hint",
        what: `${source}: as ${role} the policy wins ${percent(winRate)} (95 %: ${percent(interval[0])} to ${percent(interval[1])}) of ${won + tied + lost} games against ${against}${tied === 0 ? "" : `, and ${tied} are tied`}.`,
        advice: isSelf
          ? "The side decides the game: use tasks from which either side can win, `sides: shuffle`, or `baseline: role_average`, which compares each role with its own average."
          : isBeaten
            ? "This opponent is too weak to learn more from: play against the policy itself, its past versions (`past`) or a stronger player."
            : "Rewards that are all equal give no gradient: play against a weaker player, past versions (`past`) or the policy itself first.",
      },
    ];
  });
}

const KINDS = {
  policy: "the policy",
  past: "past versions of",
  model: "the frozen model",
  endpoint: "the endpoint",
  scripted: "the script",
} as const;
