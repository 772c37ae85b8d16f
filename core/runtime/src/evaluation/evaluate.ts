import { policyRoles } from "@mrlm/kit/learning";
import { defined, type JsonObject, type RoleId, type RolloutSampling, type TrajectoryGroup } from "@mrlm/spec";
import type { EnvironmentRef, RolloutRequest, Rollouts } from "@mrlm/spec/host";
import type { RewardRange } from "../rollouts/reward-watch.ts";
import { environmentLabel } from "../play/labels.ts";
import { type EpisodeSummary, EpisodeTally, type EvaluationCost } from "./summarise.ts";

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

/** Kind of sampling of an evaluation. */
export interface SamplingKind {
  readonly label: typeof GREEDY | typeof SAMPLED;
  /** Number of episodes of a task. */
  readonly size: number;
}

/** Returns the kinds of an evaluation: each task once greedily, and `samples` times at the temperature unless that is 0. */
export function samplingKinds({ temperature }: RolloutSampling, samples: number): readonly SamplingKind[] {
  const greedy: SamplingKind = { label: GREEDY, size: 1 };
  return temperature > 0 && samples > 0 ? [greedy, { label: SAMPLED, size: samples }] : [greedy];
}

/** Sampling of the policies of an evaluation. */
export interface EvaluationSampling {
  readonly sampling: RolloutSampling;
  /** Sampling of the policies that have their own. */
  readonly policySampling?: RolloutRequest["policySampling"];
}

/** Returns the sampling of all policies at one kind. */
export function samplingAt(
  { label }: SamplingKind,
  { sampling, policySampling = {} }: EvaluationSampling,
): Required<EvaluationSampling> {
  const kind = (own: RolloutSampling): RolloutSampling => (label === GREEDY ? { ...own, temperature: 0 } : own);
  const others = Object.entries(policySampling).map(([policy, own]) => [policy, kind(own)] as const);
  return { sampling: kind(sampling), policySampling: Object.fromEntries(others) };
}

/** Plays held-out tasks greedily and sampled. The same weights give the same result at any time, except for the seconds of tools. */
export async function evaluate(
  options: EvaluationSampling & {
    readonly rollouts: Rollouts;
    readonly environments: readonly MeasuredEnvironment[];
    /** Number of sampled episodes of each task. */
    readonly samples: number;
    readonly signal?: AbortSignal;
    /** Called with each group; its episodes have the name of the environment in the result. */
    readonly onEpisodes?: (label: string, group: TrajectoryGroup) => void;
    /** Called after each group of episodes. */
    readonly onProgress?: (done: number, total: number) => void;
  },
): Promise<EvaluationResult[]> {
  const { rollouts, environments, onEpisodes = () => undefined, onProgress = () => undefined } = options;
  const kinds = samplingKinds(options.sampling, options.samples);
  const episodes = kinds.reduce((sum, { size }) => sum + size, 0);
  const ids = environments.map(({ ref }) => ref.id);
  const results: EvaluationResult[] = [];
  const total = environments.reduce((sum, { tasks }) => sum + tasks.length * episodes, 0);
  let done = 0;
  onProgress(done, total);
  for (const [index, { ref, tasks, players, sides, maxTurns, rewardRange }] of environments.entries()) {
    // An environment that is configured twice, with different options, has two results.
    const environment = environmentLabel(ids, index);
    const tallies = new EvaluationTallies(rewardRange);
    for (const kind of kinds) {
      const request = {
        environment: ref,
        tasks,
        groupSize: kind.size,
        players,
        ...defined({ sides, maxTurns, signal: options.signal }),
        label: kind.label,
        ...samplingAt(kind, options),
      };
      for await (const group of rollouts.collect(request)) {
        tallies[kind.label].add(group);
        onEpisodes(kind.label, {
          ...group,
          trajectories: group.trajectories.map((trajectory) => ({ ...trajectory, environment })),
        });
        onProgress((done += group.trajectories.length), total);
      }
    }
    results.push(...tallies.results(environment));
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
    return this.#of(role).summary();
  }

  cost(role: RoleId | undefined): EvaluationCost {
    return this.#of(role).cost;
  }

  #of(role: RoleId | undefined): EpisodeTally {
    return role === undefined ? this.#whole : (this.#roles.get(role) ?? new EpisodeTally(role));
  }
}

/** Tallies of an environment at both kinds of sampling. */
export class EvaluationTallies {
  readonly [GREEDY]: RoleTallies;
  readonly [SAMPLED]: RoleTallies;

  constructor(range?: RewardRange) {
    this[GREEDY] = new RoleTallies(range);
    this[SAMPLED] = new RoleTallies(range);
  }

  /** Returns the results by role, with the number of tasks that were played greedily. @param hasCost whether summaries have their cost */
  results(environment: string, { hasCost = false }: { readonly hasCost?: boolean } = {}): EvaluationResult[] {
    const { [GREEDY]: greedy, [SAMPLED]: sampled } = this;
    const summary = (tallies: RoleTallies, role: RoleId | undefined): EpisodeSummary =>
      hasCost ? { ...tallies.summary(role), cost: tallies.cost(role) } : tallies.summary(role);
    return greedy.roles().map((role) => ({
      environment: role === undefined ? environment : `${environment}/${role}`,
      ...defined({ role }),
      tasks: greedy.groups,
      greedy: summary(greedy, role),
      ...(sampled.groups === 0 ? {} : { sampled: summary(sampled, role) }),
    }));
  }
}
