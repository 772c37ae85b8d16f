import type { MatchSummary } from "../../evaluation/match-tally.ts";
import { type Finding, percent } from "../finding.ts";

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
