import { type EpisodeCounts, learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";
import type { AlgorithmContext, EngineSequence, TrajectoryGroup } from "@mrlm/spec";
import type { DpoOptions } from "./options.ts";
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

/** Takes groups and pairs their members. */
export async function collectPairs(context: AlgorithmContext, options: DpoOptions): Promise<CollectedPairs> {
  const { groups } = await context.episodes.take();
  const counts = noEpisodeCounts();
  const rules = { policy: context.policy, dropCut: false };
  const pairs = groups.flatMap(({ trajectories }) => {
    const episodes = trajectories.flatMap((trajectory) => learnableEpisodes(trajectory, rules, counts));
    return Object.values(Object.groupBy(episodes, ({ role }) => role)).flatMap((members = []) =>
      pairMembers(
        members.map((episode) => ({ ...episode, part: { trajectory: episode.trajectory.id, agent: episode.agent } })),
        options.pairs_per_group,
      ),
    );
  });
  return { pairs, groups, counts };
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
