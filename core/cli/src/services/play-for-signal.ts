import type { TaskId, TrajectoryGroup } from "@mrlm/spec";
import { wholeNumber } from "../arguments.ts";
import type { CommandContext } from "../command-context.ts";
import { decimal } from "../console/numbers.ts";
import { progressBar } from "../console/progress-bar.ts";
import { unlessLost } from "./environments.ts";
import { openRolloutSession } from "./rollout-session.ts";

/** Flags of `mrlm check` that sample episodes. */
export interface PlayArguments {
  /** A model, as `mrlm eval --model` takes it. */
  readonly play?: string;
  readonly baseUrl?: string;
  readonly modelOptions?: string;
  readonly maxTokens?: string;
  readonly playGroups: string;
}

/** Episodes of a group: enough to see two different rewards where one episode in four is rewarded. */
const GROUP_SIZE = 8;

/** Samples groups of episodes of training tasks with a model, and reports in how many it could learn: those with two different rewards. */
export async function playForSignal(
  context: CommandContext,
  directory: string,
  environments: readonly string[],
  { play = "", baseUrl, modelOptions, maxTokens, playGroups }: PlayArguments,
  signal: AbortSignal,
): Promise<void> {
  const { console } = context;
  const tasks = wholeNumber(playGroups, "--play-groups", 1);
  for (const environment of environments) {
    const args = {
      ...{ model: play, environment, split: "train" },
      ...(baseUrl !== undefined && { baseUrl }),
      ...(modelOptions !== undefined && { modelOptions }),
      ...(maxTokens !== undefined && { maxTokens }),
    };
    const session = await openRolloutSession({ ...context, directory }, args, signal, "collect");
    const bar = progressBar(console, "play", { isBrief: true });
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
          bar.update(groups.length, ids.length, `groups of ${environment}`);
        }
      };
      await unlessLost(session.lost, playing());
    } finally {
      bar.clear();
      await session.close();
    }
    const rewards = groups.flatMap((group) => [...rewardsOf(group).values()].flat());
    const learnable = groups.filter(hasSignal).length;
    const mean = rewards.length === 0 ? undefined : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    const failed = groups.flatMap(({ trajectories }) => trajectories).filter(({ error }) => error !== undefined).length;
    console.print(
      `environment:${environment}, played by ${play}: ${learnable} of ${groups.length} groups of ${GROUP_SIZE} have two different rewards; mean reward ${decimal(mean)}${failed > 0 ? `; ${failed} episodes failed` : ""}`,
    );
    console.emit({
      event: "play",
      ...{ environment, model: play, groups: groups.length, with_signal: learnable, mean_reward: mean ?? null, failed },
    });
  }
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
