import { policyRoles } from "@mrlm/kit/learning";
import { defined, type JsonObject, type RoleId, type RolloutSampling, type TrajectoryGroup } from "@mrlm/spec";
import type { EnvironmentRef, RolloutRequest, Rollouts } from "@mrlm/spec/host";
import type { RewardRange } from "../rollouts/reward-watch.ts";
import { type EpisodeSummary, EpisodeTally } from "./summarise.ts";

/** Labels of an evaluation's episodes. */
export const GREEDY = "evaluation/greedy";
export const SAMPLED = "evaluation/sampled";

/** Tasks of one environment for an evaluation. */
export interface MeasuredEnvironment {
  readonly ref: EnvironmentRef;
  readonly tasks: readonly string[];
  readonly players: RolloutRequest["players"];
  readonly sides?: RolloutRequest["sides"];
  readonly maxTurns?: number;
  /** Range of the rewards, where the host knows it. */
  readonly rewardRange?: RewardRange;
}

/** Result of one environment, or of one role of it where policies play several. */
export interface EvaluationResult {
  /** Id of the environment; `math@2#2` for the second entry of the same id; `duel@1/first` for one of several roles. */
  readonly environment: string;
  /** Role that is measured; absent where policies play only one. */
  readonly role?: RoleId;
  readonly tasks: number;
  /** Episodes at temperature 0, one for each task. */
  readonly greedy: EpisodeSummary;
  /** Episodes at the run's temperature; `undefined` if no samples were requested. */
  readonly sampled?: EpisodeSummary;
}

/** One evaluation of a run. */
export interface EvaluationPoint {
  /** Iterations of the run before the evaluation. */
  readonly step: number;
  /** `start`, or the name of the stage that had just ended or was in progress. */
  readonly label: string;
  readonly results: readonly EvaluationResult[];
}

/** Plays held-out tasks greedily and sampled. The same weights give the same result at any time, except for the seconds of tools. */
export async function evaluate(options: {
  readonly rollouts: Rollouts;
  readonly environments: readonly MeasuredEnvironment[];
  readonly sampling: RolloutSampling;
  /** Sampling of the policies that have their own. */
  readonly policySampling?: RolloutRequest["policySampling"];
  /** Number of sampled episodes of each task. */
  readonly samples: number;
  readonly signal?: AbortSignal;
  /** Called with each group; its episodes have the name of the environment in the result. */
  readonly onEpisodes?: (label: string, group: TrajectoryGroup) => void;
  /** Called after each group of episodes. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called before a rejection, with the results of the episodes that had ended. */
  readonly onStopped?: (results: readonly EvaluationResult[]) => void;
}): Promise<EvaluationResult[]> {
  const {
    rollouts,
    sampling,
    policySampling = {},
    onEpisodes = () => undefined,
    onProgress = () => undefined,
  } = options;
  const samples = sampling.temperature > 0 ? options.samples : 0;
  const results: EvaluationResult[] = [];
  const total = options.environments.reduce((sum, { tasks }) => sum + tasks.length * (1 + samples), 0);
  let done = 0;
  onProgress(done, total);
  for (const [index, { ref, tasks, players, sides, maxTurns, rewardRange }] of options.environments.entries()) {
    // An environment that is configured twice, with different options, has two results.
    const twins = options.environments.slice(0, index).filter((other) => other.ref.id === ref.id).length;
    const environment = twins === 0 ? ref.id : `${ref.id}#${twins + 1}`;
    const [greedy, sampled] = [new RoleTallies(rewardRange), new RoleTallies(rewardRange)];
    const play = async (
      tallies: RoleTallies,
      label: string,
      groupSize: number,
      kind: (sampling: RolloutSampling) => RolloutSampling,
    ): Promise<void> => {
      const request = {
        environment: ref,
        tasks,
        groupSize,
        players,
        ...defined({ sides, maxTurns, signal: options.signal }),
        label,
        sampling: kind(sampling),
        policySampling: Object.fromEntries(Object.entries(policySampling).map(([policy, own]) => [policy, kind(own)])),
      };
      for await (const group of rollouts.collect(request)) {
        tallies.add(group);
        onEpisodes(label, {
          ...group,
          trajectories: group.trajectories.map((trajectory) => ({ ...trajectory, environment })),
        });
        onProgress((done += group.trajectories.length), total);
      }
    };
    const resultsOf = (count: number): EvaluationResult[] =>
      greedy.roles().map((role) => ({
        environment: role === undefined ? environment : `${environment}/${role}`,
        ...defined({ role }),
        tasks: count,
        greedy: greedy.summary(role),
        ...(sampled.groups === 0 ? {} : { sampled: sampled.summary(role) }),
      }));
    try {
      await play(greedy, GREEDY, 1, (own) => ({ ...own, temperature: 0 }));
      if (samples > 0) await play(sampled, SAMPLED, samples, (own) => own);
    } catch (error) {
      options.onStopped?.([...results, ...(greedy.groups === 0 ? [] : resultsOf(greedy.groups))]);
      throw error;
    }
    results.push(...resultsOf(tasks.length));
  }
  return results;
}

/** Converts a result to a row of metrics.jsonl. */
export function evaluationRow(result: EvaluationResult): JsonObject {
  return JSON.parse(JSON.stringify(result)) as JsonObject;
}

/** Tallies of the parts that policies played: by role where they play several roles of a group, else together. */
export class RoleTallies {
  readonly #range: RewardRange | undefined;
  readonly #whole: EpisodeTally;
  readonly #roles = new Map<RoleId, EpisodeTally>();
  /** Number of groups so far. */
  groups = 0;

  constructor(range?: RewardRange) {
    this.#range = range;
    this.#whole = new EpisodeTally(undefined, range);
  }

  add(group: TrajectoryGroup): void {
    this.groups++;
    for (const role of policyRoles([group]))
      if (!this.#roles.has(role)) this.#roles.set(role, new EpisodeTally(role, this.#range));
    for (const trajectory of group.trajectories)
      for (const tally of [this.#whole, ...this.#roles.values()]) tally.add(trajectory);
  }

  /** Returns the roles that are measured apart; `undefined` alone stands for all of them together. */
  roles(): readonly (RoleId | undefined)[] {
    return this.#roles.size === 0 ? [undefined] : [...this.#roles.keys()];
  }

  summary(role: RoleId | undefined): EpisodeSummary {
    return (role === undefined ? this.#whole : (this.#roles.get(role) ?? new EpisodeTally(role))).summary();
  }
}
