import type { TaskId, TrajectoryGroup } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import type { RolloutOptions } from "../declarations/flag-groups.ts";
import { unlessLost } from "./environments.ts";
import { openRolloutSession } from "./rollout-session.ts";
import { rolloutSessionConfig } from "./rollout-session-config.ts";
import { modelFetcher } from "./stored-models.ts";

/** Episodes of a group: enough to see two different rewards where one episode in four is rewarded. */
const GROUP_SIZE = 8;

/** Figures of the groups that a model played. */
export interface PlayedGroups {
  readonly groups: number;
  readonly groupSize: number;
  /** Number of groups in which a role has two different rewards. */
  readonly withSignal: number;
  /** Absent if no reward was scored. */
  readonly meanReward?: number;
  readonly failed: number;
}

/** Plays groups of episodes of the first training tasks. */
export async function playGroups(
  context: CommandContext,
  args: RolloutOptions,
  tasks: number,
  { signal, onGroup }: { readonly signal: AbortSignal; readonly onGroup: (done: number, total: number) => void },
): Promise<PlayedGroups> {
  const given = await rolloutSessionConfig(args, modelFetcher(context));
  const session = await openRolloutSession(context, args, given, signal);
  const groups: TrajectoryGroup[] = [];
  try {
    const { ref, size, players, sides = "fixed", rewardSharing = {} } = session.environment;
    const ids = Array.from({ length: Math.min(tasks, size) }, (_, index): TaskId => `train/${index}`);
    const playing = async (): Promise<void> => {
      const request = { environment: ref, tasks: ids, groupSize: GROUP_SIZE, players, sides, rewardSharing };
      const stop = AbortSignal.any([signal, session.lost]);
      for await (const group of session.rollouts.collect({
        ...request,
        ...session.sampling,
        label: "check",
        signal: stop,
      })) {
        groups.push(group);
        onGroup(groups.length, ids.length);
      }
    };
    await unlessLost(session.lost, playing());
  } finally {
    await session.close();
  }
  const rewards = groups.flatMap((group) => [...rewardsOf(group).values()].flat());
  return {
    groups: groups.length,
    groupSize: GROUP_SIZE,
    withSignal: groups.filter(hasSignal).length,
    ...(rewards.length > 0 && { meanReward: rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length }),
    failed: groups.flatMap(({ trajectories }) => trajectories).filter(({ error }) => error !== undefined).length,
  };
}

/** Returns whether the policy earned two different rewards in some role. */
function hasSignal(group: TrajectoryGroup): boolean {
  return [...rewardsOf(group).values()].some((rewards) => new Set(rewards).size > 1);
}

/** Returns the scored rewards of the policy by role. */
function rewardsOf({ trajectories }: TrajectoryGroup): Map<string, number[]> {
  const byRole = new Map<string, number[]>();
  for (const { agents, error } of trajectories) {
    if (error !== undefined) continue;
    for (const { role, player, total } of Object.values(agents))
      if (player.kind === "policy" && total.scored) byRole.set(role, [...(byRole.get(role) ?? []), total.value]);
  }
  return byRole;
}
