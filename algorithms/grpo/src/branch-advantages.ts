import type { EpisodeTurn } from "./episode-turns.ts";
import { mean, type TurnedEpisode } from "./turn-advantages.ts";

/**
 * Returns the advantages of the turns of one role in one group by branches (after VinePPO, arXiv 2410.01679). V_k is the mean of the m_k returns of the scored
 * branches from the state s_k before turn k, and R_k the return to go of the episode itself. The turns with V divide the episode into segments. All turns of the
 * segment from turn i to before turn j have the advantage
 *
 *     A = r_i + ... + r_(j-1) + (m_j V_j + R_j) / (m_j + 1) - V_i        without the third term where the episode ends before j
 *
 * The first turn of an episode has no branches: the other members begin in the same state, and V is the mean of their returns. Where there is none, the turns of
 * the first segment have the advantage 0.
 *
 * V_i is of episodes that were played on from s_i without the actions that follow, so it is independent of them. The episode is one more sample of the value of
 * s_j, so the mean over it and the branches has, given s_j, the mean of the return from there. So E[A ∇log π(a_k)] = E[Q(s_k, a_k) ∇log π(a_k)] for each turn k:
 * ADR 0043 (branches).
 *
 * An advantage within rounding of 0 is 0, so that a group of equal returns has no signal.
 */
export function branchAdvantages(episodes: readonly TurnedEpisode[]): number[][] {
  return episodes.map(({ member, turns }) => {
    const others = episodes.flatMap((other) => (other.member === member ? [] : (other.turns[0]?.toGo ?? [])));
    const known = turns.map(({ branches = [] }, k) => (branches.length === 0 && k === 0 ? others : branches));
    const advantages: number[] = [];
    for (let from = 0, to: number; from < turns.length; from = to) {
      const next = known.findIndex((returns, k) => k > from && returns.length > 0);
      to = next < 0 ? turns.length : next;
      const advantage = segmentAdvantage(turns, from, to, known[from] as readonly number[]);
      advantages.push(...new Array<number>(to - from).fill(advantage));
    }
    return advantages;
  });
}

/** Returns the advantage of the turns of a segment. `known` are returns from its first state. */
function segmentAdvantage(turns: readonly EpisodeTurn[], from: number, to: number, known: readonly number[]): number {
  if (known.length === 0) return 0;
  const { toGo } = turns[from] as EpisodeTurn;
  const end = turns[to];
  const target = end === undefined ? toGo : toGo - end.toGo + mean([...(end.branches ?? []), end.toGo]);
  const value = mean(known);
  return Math.abs(target - value) <= 1e-12 * Math.max(1, Math.abs(value)) ? 0 : target - value;
}
