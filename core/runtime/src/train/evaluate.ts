import type { EnvironmentRef, JsonObject, ModelId, RolloutSampling, Rollouts, Trajectory } from "@mrlm/spec";

/** Components that say whether a task was solved, the first that an environment has; without any, a total of at least 1 does. */
const SOLVED_COMPONENTS = ["correct", "solved", "all_passed"] as const;

/** What episodes came to. Means are over scored episodes only: what failed or could not be scored is counted and is never a zero. */
export interface EpisodeSummary {
  readonly episodes: number;
  readonly scored: number;
  readonly unscored: number;
  readonly failed: number;
  /** Ended by a limit. */
  readonly truncated: number;
  /** Mean total reward; `null` when nothing was scored. */
  readonly reward: number | null;
  /** Share of solved tasks: the mean of the component `correct`, `solved` or `all_passed`, else the share of rewards of at least 1. */
  readonly accuracy: number | null;
  /** Mean of each component. */
  readonly components: Readonly<Record<string, number>>;
  /** Mean tokens that the policy chose. */
  readonly tokens: number | null;
}

/** What to measure on. */
export interface MeasuredEnvironment {
  readonly ref: EnvironmentRef;
  readonly tasks: readonly string[];
  readonly maxTurns?: number;
}

/** One environment, measured. */
export interface EvaluationResult {
  readonly environment: string;
  readonly tasks: number;
  /** At temperature 0, one episode for each task. */
  readonly greedy: EpisodeSummary;
  /** At the run's temperature; `undefined` when no samples were asked for. */
  readonly sampled?: EpisodeSummary;
}

/** Plays held-out tasks greedily and sampled. The same weights give the same result, whenever it is done. */
export async function evaluate(options: {
  readonly rollouts: Rollouts;
  readonly environments: readonly MeasuredEnvironment[];
  readonly model: ModelId;
  readonly sampling: RolloutSampling;
  /** Sampled episodes of each task; 0 for none. */
  readonly samples: number;
  readonly signal?: AbortSignal;
  /** Told after each group of episodes. */
  readonly onProgress?: (done: number, total: number) => void;
}): Promise<EvaluationResult[]> {
  const { rollouts, model, sampling, onProgress = () => undefined } = options;
  const samples = sampling.temperature > 0 ? options.samples : 0;
  const results: EvaluationResult[] = [];
  const total = options.environments.reduce((sum, { tasks }) => sum + tasks.length * (1 + samples), 0);
  let done = 0;
  onProgress(done, total);
  for (const { ref, tasks, maxTurns } of options.environments) {
    const play = async (label: string, groupSize: number, temperature: number): Promise<EpisodeSummary> => {
      const limits = { ...(maxTurns === undefined ? {} : { maxTurns }), ...(options.signal === undefined ? {} : { signal: options.signal }) };
      const request = { environment: ref, tasks, groupSize, model, label, sampling: { ...sampling, temperature }, ...limits };
      const trajectories: Trajectory[] = [];
      for await (const group of rollouts.collect(request)) {
        trajectories.push(...group.trajectories);
        onProgress((done += group.trajectories.length), total);
      }
      return summariseEpisodes(trajectories);
    };
    const greedy = await play("evaluation/greedy", 1, 0);
    const sampled = samples > 0 ? await play("evaluation/sampled", samples, sampling.temperature) : undefined;
    results.push({ environment: ref.id, tasks: tasks.length, greedy, ...(sampled === undefined ? {} : { sampled }) });
  }
  return results;
}

/** Counts and means over episodes. Each agent of an episode counts by itself. */
export function summariseEpisodes(trajectories: readonly Trajectory[]): EpisodeSummary {
  const finished = trajectories.filter(({ error }) => error === undefined);
  const parts = finished.flatMap(({ agents }) => Object.values(agents));
  const scores = parts.flatMap(({ total }) => (total.scored ? [total] : []));
  const names = [...new Set(scores.flatMap(({ components }) => Object.keys(components)))].sort();
  const components = Object.fromEntries(names.map((name) => [name, mean(scores.flatMap((score) => score.components[name] ?? [])) ?? 0]));
  const solved = SOLVED_COMPONENTS.find((name) => name in components);
  const chosen = (trajectory: Trajectory): number => trajectory.turns.reduce((sum, { start, end }) => sum + end - start, 0);
  return {
    episodes: trajectories.length,
    scored: scores.length,
    unscored: parts.length - scores.length,
    failed: trajectories.length - finished.length,
    truncated: parts.filter(({ end }) => end.truncated).length,
    reward: mean(scores.map(({ value }) => value)),
    accuracy: solved === undefined ? mean(scores.map(({ value }) => Number(value >= 1 - 1e-9))) : (components[solved] ?? null),
    components,
    tokens: mean(finished.map(chosen)),
  };
}

/** The result as a row of metrics.jsonl. */
export function evaluationRow(result: EvaluationResult): JsonObject {
  return JSON.parse(JSON.stringify(result)) as JsonObject;
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
