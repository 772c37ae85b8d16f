import type { Score, Trajectory } from "@mrlm/spec";
import { bootstrapInterval, type Interval, shareInterval } from "./intervals.ts";
import { type PassAtK, passAtKs } from "./pass-at-k.ts";

/** Components that say whether a task was solved, the first that an environment has; without any, a total of at least 1 does. */
const SOLVED_COMPONENTS = ["correct", "solved", "all_passed"] as const;

/** What episodes came to. Means are over scored episodes only: what failed or could not be scored is counted and is never a zero. */
export interface EpisodeSummary {
  readonly episodes: number;
  readonly scored: number;
  readonly unscored: number;
  readonly failed: number;
  /** Code and message of the first episode that failed. */
  readonly firstError?: string;
  /** Ended by a limit. */
  readonly truncated: number;
  /** Mean total reward; `null` when nothing was scored. */
  readonly reward: number | null;
  /** Share of episodes that solved their task: those whose component `correct`, `solved` or `all_passed`, or else their reward, is at least 1. */
  readonly accuracy: number | null;
  /** Mean of each component. */
  readonly components: Readonly<Record<string, number>>;
  /** Mean tokens that the policy chose. */
  readonly tokens: number | null;
  readonly intervals: Intervals;
  /** Where tasks have several samples. */
  readonly passAtK: readonly PassAtK[];
}

/** 95 % confidence intervals. Tasks, not episodes, are taken as independent. */
export interface Intervals {
  /** Wilson's, at the effective number of tasks. */
  readonly accuracy: Interval | null;
  /** Bootstrap. */
  readonly reward: Interval | null;
  /** Bootstrap. */
  readonly components: Readonly<Record<string, Interval | null>>;
}

/** Counts, means and intervals over episodes. Each agent of an episode counts by itself. */
export function summariseEpisodes(trajectories: readonly Trajectory[]): EpisodeSummary {
  const finished = trajectories.filter(({ error }) => error === undefined);
  const error = trajectories.find((trajectory) => trajectory.error !== undefined)?.error;
  const parts = finished.flatMap(({ agents }) => Object.values(agents));
  const tasks = scoresByTask(finished);
  const scores = tasks.flat();
  const names = [...new Set(scores.flatMap(({ components }) => Object.keys(components)))].sort();
  const solvedBy = SOLVED_COMPONENTS.find((name) => names.includes(name));
  const solves = ({ value, components }: Score): number => Number(((solvedBy === undefined ? undefined : components[solvedBy]) ?? value) >= 1 - 1e-9);
  const chosen = (trajectory: Trajectory): number => trajectory.turns.reduce((sum, { start, end }) => sum + end - start, 0);
  const componentOf = (name: string) => (score: Score) => score.components[name] ?? [];
  return {
    episodes: trajectories.length,
    scored: scores.length,
    unscored: parts.length - scores.length,
    failed: trajectories.length - finished.length,
    ...(error === undefined ? {} : { firstError: `${error.code}: ${error.message}` }),
    truncated: parts.filter(({ end }) => end.truncated).length,
    reward: mean(scores.map(({ value }) => value)),
    accuracy: mean(scores.map(solves)),
    components: Object.fromEntries(names.map((name) => [name, mean(scores.flatMap(componentOf(name))) ?? 0])),
    tokens: mean(finished.map(chosen)),
    intervals: {
      accuracy: shareInterval(tasks.map((task) => mean(task.map(solves)) as number), scores.length),
      reward: clusteredInterval(tasks, ({ value }) => value),
      components: Object.fromEntries(names.map((name) => [name, clusteredInterval(tasks, componentOf(name))])),
    },
    passAtK: passAtKs(tasks.map((samples) => ({ samples: samples.length, solved: samples.reduce((sum, score) => sum + solves(score), 0) }))),
  };
}

/** Scores of each task that has any; agents of one task stay apart, for each has a chance of its own. */
function scoresByTask(trajectories: readonly Trajectory[]): Score[][] {
  const byTask = new Map<string, Score[]>();
  for (const { environment, task, agents } of trajectories) {
    for (const [agent, { total }] of Object.entries(agents)) {
      if (!total.scored) continue;
      const key = JSON.stringify([environment, task, agent]);
      byTask.set(key, [...(byTask.get(key) ?? []), total]);
    }
  }
  return [...byTask.values()];
}

function clusteredInterval(tasks: readonly (readonly Score[])[], valueOf: (score: Score) => number | readonly number[]): Interval | null {
  return bootstrapInterval(
    tasks.map((scores) => {
      const values = scores.flatMap(valueOf);
      return { sum: values.reduce((sum, value) => sum + value, 0), count: values.length };
    }),
  );
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
