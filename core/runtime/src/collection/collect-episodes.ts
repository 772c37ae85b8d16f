import { epochOrder, isOfOtherPlayer, learntRowReward, type RecordedRow, toRecordedRows } from "@mrlm/kit/learning";
import type { RolloutSampling, TaskId, TrajectoryGroup } from "@mrlm/spec";
import type { EnvironmentRef, PlayedBy, RolloutRequest, Rollouts } from "@mrlm/spec/host";
import type { Journal } from "./journal.ts";

export interface CollectionRequest {
  readonly rollouts: Rollouts;
  readonly environment: EnvironmentRef;
  readonly split: string;
  /** Number of tasks in the split. */
  readonly size: number;
  /** Number of tasks to play, in a random order. Above the split's size, tasks repeat. */
  readonly tasks: number;
  /** Number of episodes of each task. */
  readonly groupSize: number;
  readonly players: RolloutRequest["players"];
  readonly sides?: RolloutRequest["sides"];
  readonly rewardSharing?: RolloutRequest["rewardSharing"];
  readonly sampling: RolloutSampling;
  /** Sampling of the models that have their own. */
  readonly policySampling?: RolloutRequest["policySampling"];
  readonly seed: number;
  /** Returns the fingerprint of a player's renderer; empty for a player without one. */
  readonly renderer: (player: PlayedBy) => string;
  /** Least reward to learn from of the episodes whose rows are kept; default: all rows are kept, also unscored ones. */
  readonly filterReward?: number;
  /** Tasks of a batch. In deterministic mode the batch affects the last bits of samples, so an interrupted collection repeats whole batches. */
  readonly batchTasks: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (episodes: number, total: number) => void;
  /** Called with groups after the journal has them. */
  readonly onEpisodes?: (groups: readonly TrajectoryGroup[]) => void;
}

/** Plays the batches that the journal lacks. */
export async function collectEpisodes(request: CollectionRequest, journal: Journal): Promise<void> {
  const { tasks, size, groupSize, batchTasks, onProgress } = request;
  const order = epochOrder(size, `collect/${request.split}`, request.seed);
  const total = tasks * groupSize;
  const progress = (): void => onProgress(journal.counts()["episodes"] ?? 0, total);
  progress();
  let batch = 0;
  for (let epoch = 0; epoch * size < tasks; epoch++) {
    const drawn = order.take(Math.min(size, tasks - epoch * size)).map((index): TaskId => `${request.split}/${index}`);
    const batches = chunks(drawn, batchTasks ?? 1).map((wanted) => ({ batch: batch++, wanted }));
    const pending = batches.filter((each) => !journal.has(each.batch));
    const add = (number: number, groups: readonly TrajectoryGroup[]): void => {
      journal.add({ batch: number, ...rowsOf(groups, request) });
      request.onEpisodes?.(groups);
      progress();
    };
    if (batchTasks === undefined) {
      const numbers = new Map(pending.map(({ batch: number, wanted }) => [wanted[0], number]));
      for await (const group of play(request, [...numbers.keys()] as TaskId[], epoch))
        add(numbers.get(group.task) as number, [group]);
    } else {
      for (const { batch: number, wanted } of pending) add(number, await Array.fromAsync(play(request, wanted, epoch)));
    }
  }
}

function play(
  {
    rollouts,
    environment,
    groupSize,
    players,
    sides = "fixed",
    rewardSharing = {},
    sampling,
    policySampling = {},
    signal,
  }: CollectionRequest,
  tasks: readonly TaskId[],
  epoch: number,
): AsyncIterable<TrajectoryGroup> {
  const label = `collect/${epoch}`;
  const played = { environment, tasks, groupSize, players, sides, rewardSharing, label };
  return rollouts.collect({ ...played, sampling, policySampling, signal });
}

function rowsOf(
  groups: readonly TrajectoryGroup[],
  { renderer, filterReward }: CollectionRequest,
): { readonly rows: RecordedRow[]; readonly counts: Record<string, number> } {
  const trajectories = groups.flatMap((group) => group.trajectories);
  const rows = trajectories.flatMap((trajectory) => toRecordedRows(trajectory, renderer));
  const kept =
    filterReward === undefined
      ? rows
      : rows.filter((row) => (learntRowReward(row) ?? Number.NEGATIVE_INFINITY) >= filterReward);
  // Rewards and answers of opponents do not measure the model that plays as the policy.
  const measured = rows.filter((row) => !isOfOtherPlayer(row));
  const scored = measured.flatMap(({ reward }) => reward ?? []);
  const answers = measured.flatMap(({ turns }) => turns);
  const counts = {
    episodes: trajectories.length,
    failed: trajectories.filter(({ error }) => error !== undefined).length,
    rows: rows.length,
    scored: scored.length,
    unscored: measured.filter(({ error, unscored }) => !error && unscored).length,
    truncated: measured.filter(({ truncated }) => truncated).length,
    answers: answers.length,
    cut_answers: answers.filter(({ stop_reason }) => stop_reason === "length").length,
    kept: kept.length,
    reward_sum: scored.reduce((sum, reward) => sum + reward, 0),
  };
  return { rows: kept, counts };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
