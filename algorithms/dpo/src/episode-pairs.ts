import {
  type AlgorithmContext,
  type EngineSequence,
  type EpisodeCounts,
  learnableEpisodes,
  noEpisodeCounts,
  singleOf,
  type TrajectoryGroup,
} from "@mrlm/kit/learning";
import type { DpoSettings } from "./options.ts";
import type { EpisodePart, Pair } from "./pair.ts";

/** Pairs made of episodes. */
export interface CollectedPairs {
  readonly pairs: readonly Pair[];
  readonly groups: readonly TrajectoryGroup[];
  readonly counts: EpisodeCounts;
}

/** An episode's responses and reward. */
export interface Ranked {
  readonly rows: readonly EngineSequence[];
  readonly reward: number;
  readonly part?: EpisodePart;
}

/** Takes groups and pairs their members. Single answers of one kind alone are left out: there is nothing to compare. */
export async function collectPairs(context: AlgorithmContext, options: DpoSettings): Promise<CollectedPairs> {
  const { groups } = await context.episodes.take();
  const counts = noEpisodeCounts();
  const rules = { policy: context.policy, dropCut: false };
  const pairs = groups.flatMap(({ trajectories }) => {
    const episodes = trajectories.flatMap((trajectory) => learnableEpisodes(trajectory, rules, counts));
    return Object.values(Object.groupBy(episodes, ({ role }) => role)).flatMap((members = []) =>
      pairsOfMembers(
        members.map((episode) => ({ ...episode, part: { trajectory: episode.trajectory.id, agent: episode.agent } })),
        options,
      ),
    );
  });
  const isComparable =
    pairs.some(({ chosen }) => chosen.length > 0) && pairs.some(({ rejected }) => rejected.length > 0);
  return { pairs: isComparable ? pairs : [], groups, counts };
}

/** Pairs the members of a group, or with `desirable_reward` returns each as a single answer. */
export function pairsOfMembers(
  members: readonly Ranked[],
  { pairs_per_group, desirable_reward }: Pick<DpoSettings, "pairs_per_group" | "desirable_reward">,
): Pair[] {
  if (desirable_reward === undefined) return pairMembers(members, pairs_per_group);
  return members.map(({ rows, reward, part }) => {
    const isDesirable = reward >= desirable_reward;
    const parts = part && { parts: isDesirable ? { chosen: part } : { rejected: part } };
    return { ...singleOf(rows, isDesirable), ...parts };
  });
}

/** Pairs the best with the worst, the second best with the second worst, and so on, while their rewards differ. Ties keep the order of play. */
export function pairMembers(members: readonly Ranked[], most: number): Pair[] {
  const ranked = members.toSorted((one, other) => other.reward - one.reward);
  const pairs: Pair[] = [];
  for (let i = 0; i < Math.min(most, Math.floor(ranked.length / 2)); i++) {
    const [best, worst] = [ranked[i] as Ranked, ranked[ranked.length - 1 - i] as Ranked];
    const parts = best.part && worst.part && { parts: { chosen: best.part, rejected: worst.part } };
    if (best.reward > worst.reward) pairs.push({ chosen: best.rows, rejected: worst.rows, ...parts });
  }
  return pairs;
}
