import { defined, type JsonObject, type TaskId, type TrajectoryGroup } from "@mrlm/spec";
import type { EpisodeStore, Rollouts, RolloutRequest } from "@mrlm/spec/host";
import type { EpisodeReader } from "@mrlm/store";
import {
  type EvaluationResult,
  type EvaluationSampling,
  EvaluationTallies,
  GREEDY,
  type MeasuredEnvironment,
  samplingAt,
  type SamplingKind,
  samplingKinds,
} from "./evaluate.ts";
import { evaluationKey } from "./episode-keys.ts";
import { EpisodeTally, type TaskScore } from "./summarise.ts";

/** One model in one environment, whose episodes are kept in a store. */
export interface StoredCell extends EvaluationSampling {
  readonly environment: MeasuredEnvironment;
  /** Name of the environment in the result, and in the episodes. */
  readonly label: string;
  /** Number of sampled episodes of each task. */
  readonly samples: number;
  /** Everything else that decides the episodes: model, environment, options, players, seed. */
  readonly identity: { readonly environment: JsonObject; readonly model: JsonObject; readonly seed: number };
}

/** Stored episodes of a task at one kind of sampling. */
export interface StoredGroup extends TrajectoryGroup {
  readonly kind: SamplingKind["label"];
}

type RecordedEpisode = ReturnType<EpisodeReader["recorded"]>[number];

/** Episodes of a task at one kind of sampling: those that are stored, and those that are missing. */
interface PlannedTask {
  readonly task: TaskId;
  readonly stored: ReadonlyMap<number, RecordedEpisode>;
  readonly missing: readonly number[];
}

/** Kind of sampling of a cell, with its episodes. */
interface PlannedKind extends StoredKind {
  readonly tasks: readonly PlannedTask[];
}

/** Episodes of a cell. Those that a store has are not played again. */
export class EvaluationPlan {
  readonly cell: StoredCell;
  readonly kinds: readonly PlannedKind[];
  /** Text that two evaluations of the same environment have in common, with its options and players. */
  readonly environmentKey: string;

  /** @param retries play those again that failed or have no score */
  constructor(cell: StoredCell, reader: EpisodeReader, { retries }: { readonly retries: boolean }) {
    this.cell = cell;
    this.environmentKey = evaluationKey(cell.identity.environment);
    this.kinds = samplingKinds(cell.sampling, cell.samples).map((each) => {
      const key = keyOf(cell, each);
      const recorded = new Map(reader.recorded(`${key}/`).map((episode) => [episode.id, episode]));
      const tasks = cell.environment.tasks.map((task): PlannedTask => {
        const members = Array.from({ length: each.size }, (_, member) => member);
        const found = members.flatMap((member) => {
          const episode = recorded.get(`${key}/${task}/${member}`);
          return episode === undefined ? [] : [[member, episode] as const];
        });
        const stored = new Map(found);
        const isKept = (member: number): boolean => stored.get(member)?.isScored ?? false;
        return { task, stored, missing: members.filter((each) => !(retries ? isKept(each) : stored.has(each))) };
      });
      return { ...each, key, tasks };
    });
  }

  /** Number of episodes. */
  get total(): number {
    return this.kinds.reduce((sum, { size, tasks }) => sum + size * tasks.length, 0);
  }

  /** Number of episodes to play. */
  get missing(): number {
    return this.kinds.reduce((sum, { tasks }) => sum + tasks.reduce((own, { missing }) => own + missing.length, 0), 0);
  }
}

/** Returns the key of the episodes of a cell at one kind of sampling. */
function keyOf(cell: StoredCell, kind: SamplingKind): string {
  const { sampling, policySampling: others } = samplingAt(kind, cell);
  const own = { kind: kind.label, sampling, others };
  return evaluationKey({ ...cell.identity, ...(JSON.parse(JSON.stringify(own)) as JsonObject) });
}

/**
 * Plays the missing episodes of a cell. Each is recorded in the store when it ends, so that a process which is killed loses those under way alone.
 * Rejects when the store cannot be written, or the signal aborts.
 */
export async function playMissing(
  plan: EvaluationPlan,
  {
    rollouts,
    store,
    signal,
    onEpisode,
  }: {
    readonly rollouts: Rollouts;
    readonly store: Pick<EpisodeStore, "record">;
    readonly signal: AbortSignal;
    readonly onEpisode: () => void;
  },
): Promise<void> {
  const { environment, label: name } = plan.cell;
  const { ref, players, sides, maxTurns } = environment;
  const failed = new AbortController();
  const writes: Promise<void>[] = [];
  try {
    for (const planned of plan.kinds) {
      const { label, key, size, tasks } = planned;
      const pending = tasks.filter(({ missing }) => missing.length > 0);
      if (pending.length === 0) continue;
      const stored = new Map(pending.map((each) => [each.task, each.stored]));
      const request: RolloutRequest = {
        environment: ref,
        tasks: pending.map(({ task }) => task),
        groupSize: size,
        members: pending.map(({ missing }) => missing),
        isSingly: true,
        players,
        ...defined({ sides, maxTurns }),
        label,
        ...samplingAt(planned, plan.cell),
        signal: AbortSignal.any([signal, failed.signal]),
      };
      for await (const group of rollouts.collect(request)) {
        const [trajectory] = group.trajectories;
        if (trajectory === undefined) continue;
        const { task, member } = trajectory;
        const write = store.record({
          id: `${key}/${task}/${member}`,
          isReplacement: stored.get(task)?.has(member) === true,
          ...{ purpose: "eval", stage: label, runStep: 0, place: 0, environment: name, versions: {}, checksum: null },
          groups: [{ ...group, trajectories: [{ ...trajectory, environment: name }] }],
        });
        writes.push(write);
        write.catch((error: unknown) => failed.abort(error));
        onEpisode();
      }
    }
  } catch (error) {
    await Promise.allSettled(writes);
    failed.signal.throwIfAborted();
    throw error;
  }
  await Promise.all(writes);
}

/**
 * Returns the results of a cell over its stored episodes, in the order of tasks and members, so that they do not depend on the order of play; one for each role
 * that is measured. Tasks without a stored greedy episode are left out.
 */
export function storedResults(plan: EvaluationPlan, reader: EpisodeReader): EvaluationResult[] {
  const { environment, label } = plan.cell;
  const tallies = new EvaluationTallies(environment.rewardRange);
  for (const group of storedGroups(plan.kinds, reader)) tallies[group.kind].add(group);
  return tallies[GREEDY].groups === 0 ? [] : tallies.results(label, { hasCost: true });
}

/** Place of episodes in the store of an evaluation. */
export interface StoredKind extends SamplingKind {
  readonly key: string;
  readonly tasks: readonly { readonly task: TaskId }[];
}

/** Returns the scores of one kind of episodes by task. */
export function storedScores(kind: StoredKind, reader: EpisodeReader): TaskScore[] {
  const tally = new EpisodeTally();
  for (const { trajectories } of storedGroups([kind], reader)) for (const each of trajectories) tally.add(each);
  return tally.taskScores();
}

/** Yields stored episodes by kind and task, in order. */
export function* storedGroups(kinds: readonly StoredKind[], reader: EpisodeReader): Generator<StoredGroup> {
  for (const { label, key, size, tasks } of kinds) {
    const recorded = Map.groupBy(reader.recorded(`${key}/`), ({ id }) => id.slice(key.length + 1, id.lastIndexOf("/")));
    for (const { task } of tasks) {
      const found = recorded.get(task) ?? [];
      const trajectories = found
        .flatMap(({ key: number }) => reader.episode(number)?.trajectory ?? [])
        // An earlier command may have asked for more samples.
        .filter(({ member }) => member < size)
        .toSorted((one, other) => one.member - other.member);
      const [first] = trajectories;
      if (first !== undefined)
        yield { kind: label, id: first.group, task, players: found[0]?.players ?? {}, trajectories };
    }
  }
}
