import { type EpisodeCounts, noEpisodeCounts, playGroups, type TaskOrder } from "@mrlm/kit/learning";
import type { AlgorithmContext, TrajectoryGroup } from "@mrlm/spec";
import type { GrpoOptions } from "./options.ts";
import { type GroupSample, type RewardedGroup, rewardedGroups, toSamples } from "./samples.ts";

/** Episodes of one iteration. */
export interface Collected {
  /** Groups that the loss is taken over. */
  readonly samples: readonly GroupSample[];
  /** All groups that were played. */
  readonly groups: readonly TrajectoryGroup[];
  readonly counts: EpisodeCounts;
  readonly withoutSignal: number;
  /** Batches sampled in place of groups that were left out. */
  readonly refills: number;
}

/**
 * Plays one batch of groups and replaces some of them. `dynamic_sampling` replaces groups without signal, in at most that many further batches.
 * `max_staleness` replaces groups with an episode that is too old, in one further batch. Without `dynamic_sampling` groups without signal stay in the batch:
 * their advantages are exactly 0, and they count in the denominator. Advantages are computed once, over the final batch, so that they do not depend on the
 * refill in which a group was played.
 */
export async function collect(
  context: AlgorithmContext,
  options: GrpoOptions,
  order: TaskOrder,
  iteration: number,
  version: number,
): Promise<Collected> {
  const groups: TrajectoryGroup[] = [];
  const kept: RewardedGroup[] = [];
  const counts = noEpisodeCounts();
  const isDynamic = options.dynamic_sampling > 0;
  const mostRefills = Math.max(options.dynamic_sampling, options.max_staleness === undefined ? 0 : 1);
  let withoutSignal = 0;
  let refills = 0;
  for (;;) {
    const tasks = order.take(options.prompts_per_step - kept.length);
    const played = await playGroups(context, tasks, options.group_size, `grpo/${iteration}/${refills}`);
    const found = rewardedGroups(played, options, version, context);
    groups.push(...played);
    for (const name of Object.keys(counts) as (keyof EpisodeCounts)[]) counts[name] += found.counts[name];
    withoutSignal += found.rewarded.filter(({ hasSignal }) => !hasSignal).length;
    kept.push(...found.rewarded.filter(({ hasSignal, isStale }) => !isStale && (hasSignal || !isDynamic)));
    if (kept.length >= options.prompts_per_step || refills >= mostRefills || context.signal.aborted) break;
    refills++;
  }
  return {
    samples: toSamples(kept, options, version).filter(({ episodes }) => episodes.length > 0),
    groups,
    counts,
    withoutSignal,
    refills,
  };
}
