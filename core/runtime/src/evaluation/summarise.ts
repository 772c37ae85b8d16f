import { gradesOf, matchParts, type ToolUsage, ToolUsageTally } from "@mrlm/kit/learning";
import { type AgentTrajectory, defined, type RoleId, type Score, type Trajectory } from "@mrlm/spec";
import { tasksToShow, variance } from "./power.ts";
import { bootstrapInterval, type Interval, shareInterval } from "./intervals.ts";
import { type MatchSummary, MatchTally } from "./match-tally.ts";
import { SameTasks } from "./same-tasks.ts";
import { outOfRange, type RewardRange } from "../rollouts/reward-watch.ts";
import { type PassAtK, passAtKs } from "./pass-at-k.ts";

/** Components that state whether a task was solved; the first that occurs applies. Without any, a total of at least 1 means solved. */
const SOLVED_COMPONENTS = ["correct", "solved", "all_passed", "answer"] as const;

/** Summary of episodes. Means are over scored episodes only: failed and unscored episodes are counted and are never a zero. */
export interface EpisodeSummary {
  readonly episodes: number;
  readonly scored: number;
  /** Scored tasks that differ: those in which the policy read the same, and the same answers earned the same, count once. Absent if all differ. */
  readonly differentTasks?: number;
  readonly unscored: number;
  readonly failed: number;
  /** Code and message of the first episode that failed. */
  readonly firstError?: string;
  /** Code and message of the first score that could not be computed. */
  readonly firstUnscored?: string;
  /** Agents whose rewards are outside of the range that the environment states; absent for none. */
  readonly outOfRange?: number;
  readonly firstOutOfRange?: string;
  /** Agents whose episode was ended by a limit: of turns, of the context, or of the environment. */
  readonly truncated: number;
  /** Share of the answers that `max_tokens` cut (stop reason `length`); `null` without answers. */
  readonly cut: number | null;
  /** Share of the answers graded by scorers whose verdict is `undecided`; absent where no scorer graded. */
  readonly undecided?: number;
  /** Mean total reward; `null` without scored episodes. */
  readonly reward: number | null;
  /** Share of episodes that solved their task: those whose component `correct`, `solved`, `all_passed` or `answer`, or else their reward, is at least 1. */
  readonly accuracy: number | null;
  /** Share of all episodes that solved their task, where those that failed or have no score count as wrong; absent where there are none. */
  readonly strictAccuracy?: number;
  /** Mean of each component. */
  readonly components: Readonly<Record<string, number>>;
  /** Mean tokens that the policy chose. */
  readonly tokens: number | null;
  /** Cost of all episodes, with those that failed, in results of an evaluation; rows of a training run have their seconds apart. */
  readonly cost?: EvaluationCost;
  /** Mean calls, errors, truncated results and seconds of each tool in an episode; absent if none was called. */
  readonly tools?: Readonly<Record<string, ToolUsage>>;
  /** Mean malformed calls in an episode, which were not run; absent where no tools were offered. */
  readonly malformedCalls?: number;
  /** Results by role and opponent; absent where no other player or side took part. */
  readonly matches?: readonly MatchSummary[];
  /** Share of each role in the parts that the policy played; absent if it played one role. */
  readonly sides?: Readonly<Record<RoleId, number>>;
  readonly intervals: Intervals;
  /** Tasks on which another model that is 5 points better shows it at 80 % power, if it solves tasks independently of this one; fewer where both solve the same ones. Absent where all tasks have the same accuracy. */
  readonly tasksToShow?: number;
  /** Estimates for k = 1, 2, 4, ...; empty if each task has one sample. */
  readonly passAtK: readonly PassAtK[];
}

/** Scores of an episode. */
export interface EpisodeScore {
  /** Share of the measured agents that solved the task. */
  readonly solved: number;
  readonly reward: number;
  readonly components: Readonly<Record<string, number>>;
}

/** Scores of the episodes of a task. */
export interface TaskScore {
  readonly task: string;
  /** Text that tasks have in common which are one to the policy. */
  readonly cluster: string;
  /** Scored parts of agents, and episodes without a score. */
  readonly episodes: number;
  /** Share of them that solved the task; those without a score did not. */
  readonly solved: number;
  /** Mean reward; `null` without scores. */
  readonly reward: number | null;
}

/** Cost of episodes. Models of endpoints have no tokens. */
export interface EvaluationCost {
  /** Tokens that the policy chose. */
  readonly sampledTokens: number;
  /** Tokens of prompts and observations that the policy read, once in each segment. */
  readonly readTokens: number;
  /** Seconds in which the episodes waited for the sampler, the environment and other players, summed; episodes that are played at the same time count each. */
  readonly seconds: number;
}

/** 95 % confidence intervals. Different tasks, not episodes, are taken as independent. */
export interface Intervals {
  /** Wilson's, at the effective number of tasks. */
  readonly accuracy: Interval | null;
  /** Of `strictAccuracy`, like `accuracy`; absent where that is. */
  readonly strictAccuracy?: Interval | null;
  /** Wilson's where every value is 0 or 1, as accuracy is; else the bootstrap's. */
  readonly reward: Interval | null;
  /** Interval of each component, like `reward`. */
  readonly components: Readonly<Record<string, Interval | null>>;
}

/** Computes counts, means and intervals over episodes. */
export function summariseEpisodes(trajectories: Iterable<Trajectory>): EpisodeSummary {
  const tally = new EpisodeTally();
  for (const trajectory of trajectories) tally.add(trajectory);
  return tally.summary();
}

/** Summarises episodes one by one and stores only their scores. Each agent that a policy plays counts separately; other players do not count. */
export class EpisodeTally {
  readonly #role: RoleId | undefined;
  /** Scores by task and agent. Agents of one task are separate, since their probabilities differ. */
  readonly #tasks = new Map<string, Score[]>();
  readonly #same = new SameTasks();
  /** Numbers of episodes without a score, by environment and task. */
  readonly #lost = new Map<string, number>();
  readonly #tools = new ToolUsageTally();
  readonly #matches: MatchTally;
  #episodes = 0;
  #failed = 0;
  #unscored = 0;
  #truncated = 0;
  #tokens = 0;
  #cost: EvaluationCost = { sampledTokens: 0, readTokens: 0, seconds: 0 };
  #answers = 0;
  #cutAnswers = 0;
  #graded = 0;
  #undecided = 0;
  #firstError: string | undefined;
  #firstUnscored: string | undefined;
  readonly #range: RewardRange | undefined;
  readonly #outOfRange: string[] = [];

  /**
   * @param role the only role to count; default: all roles
   * @param range of the rewards, where it is known
   */
  constructor(role?: RoleId, range?: RewardRange) {
    this.#range = range;
    this.#role = role;
    this.#matches = new MatchTally(role);
  }

  add(trajectory: Trajectory): void {
    const { environment, task, agents, turns, error } = trajectory;
    this.#episodes++;
    this.#cost = addedCost(
      this.#cost,
      trajectory,
      Object.values(agents).filter((part) => this.#counts(part)),
    );
    const lose = (): void => {
      const key = JSON.stringify([environment, task]);
      this.#lost.set(key, (this.#lost.get(key) ?? 0) + 1);
    };
    if (error !== undefined) {
      lose();
      this.#failed++;
      this.#firstError ??= `${error.code}: ${error.message}`;
      return;
    }
    if (this.#range !== undefined) this.#outOfRange.push(...outOfRange(trajectory, this.#range));
    this.#tools.add(trajectory);
    this.#matches.add(JSON.stringify([environment, task]), matchParts(trajectory));
    const parts = Object.entries(agents).filter(([, part]) => this.#counts(part));
    const own = turns.filter(({ agent }) => agents[agent] !== undefined && this.#counts(agents[agent]));
    this.#tokens += own.reduce((sum, { tokens }) => sum + (tokens === undefined ? 0 : tokens.end - tokens.start), 0);
    const answers = own.filter(({ stopReason }) => stopReason !== "exhausted");
    this.#answers += answers.length;
    this.#cutAnswers += answers.filter(({ stopReason }) => stopReason === "length").length;
    for (const { agent, verdict } of gradesOf(trajectory)) {
      if (agents[agent] === undefined || !this.#counts(agents[agent])) continue;
      this.#graded++;
      this.#undecided += Number(verdict === "undecided");
    }
    for (const [agent, { total, end }] of parts) {
      if (end.truncated) this.#truncated++;
      if (total.scored) {
        const key = JSON.stringify([environment, task, agent]);
        const read = own.filter((turn) => turn.agent === agent);
        this.#same.add(key, JSON.stringify([environment, agent]), read, total.value);
        const scores = this.#tasks.get(key);
        if (scores === undefined) this.#tasks.set(key, [total]);
        else scores.push(total);
      } else {
        lose();
        this.#unscored++;
        this.#firstUnscored ??= `${total.code}: ${total.message}`;
      }
    }
  }

  #counts({ role, player }: AgentTrajectory): boolean {
    return player.kind === "policy" && (this.#role === undefined || role === this.#role);
  }

  /** Cost of all episodes. */
  get cost(): EvaluationCost {
    return this.#cost;
  }

  /** Returns the scores by task. */
  taskScores(): TaskScore[] {
    return this.#byTask().map(({ solved, rewards, ...task }) => ({
      ...task,
      episodes: solved.length,
      solved: mean(solved) ?? 0,
      reward: mean(rewards),
    }));
  }

  /** Returns the mean scores of the measured agents of an episode that was added before; `undefined` if none has a score. */
  scoreOf({ agents }: Trajectory): EpisodeScore | undefined {
    const solves = this.#solves();
    const scores = Object.values(agents).flatMap((part) =>
      this.#counts(part) && part.total.scored ? [part.total] : [],
    );
    if (scores.length === 0) return undefined;
    const names = [...new Set(scores.flatMap(({ components }) => Object.keys(components)))];
    const meanOf = (valueOf: (score: Score) => number | undefined): number =>
      mean(scores.flatMap((each) => valueOf(each) ?? [])) ?? 0;
    return {
      solved: meanOf(solves),
      reward: meanOf(({ value }) => value),
      components: Object.fromEntries(names.map((name) => [name, meanOf(({ components }) => components[name])])),
    };
  }

  /** Returns by task whether its episodes solved it, with 0 for those without a score, and their rewards. */
  #byTask() {
    const representative = this.#same.representative();
    const solves = this.#solves();
    const tasks = new Map<
      string,
      { readonly cluster: string; readonly solved: number[]; readonly rewards: number[] }
    >();
    const partsOf = (environment: string, task: string, cluster: string) => {
      const name = JSON.stringify([environment, task]);
      const found = tasks.get(name) ?? { cluster, solved: [], rewards: [] };
      tasks.set(name, found);
      return found;
    };
    for (const [key, scores] of this.#tasks) {
      const [environment, task] = JSON.parse(key) as [string, string];
      const parts = partsOf(environment, task, representative(key));
      parts.solved.push(...scores.map(solves));
      parts.rewards.push(...scores.map(({ value }) => value));
    }
    for (const [name, count] of this.#lost) {
      const [environment, task] = JSON.parse(name) as [string, string];
      partsOf(environment, task, name).solved.push(...Array.from({ length: count }, () => 0));
    }
    return Array.from(tasks, ([name, parts]) => ({ task: (JSON.parse(name) as string[])[1] as string, ...parts }));
  }

  /** Returns whether a score is that of a solved task, as 0 or 1. */
  #solves(): (score: Score) => number {
    const names = new Set([...this.#tasks.values()].flat().flatMap(({ components }) => Object.keys(components)));
    const solvedBy = SOLVED_COMPONENTS.find((name) => names.has(name));
    return ({ value, components }) =>
      Number(((solvedBy === undefined ? undefined : components[solvedBy]) ?? value) >= 1 - 1e-9);
  }

  summary(): EpisodeSummary {
    const tasks = [...this.#tasks.values()];
    const scores = tasks.flat();
    const names = [...new Set(scores.flatMap(({ components }) => Object.keys(components)))].sort();
    const solves = this.#solves();
    const representative = this.#same.representative();
    const merged = Map.groupBy(this.#tasks, ([key]) => representative(key));
    const different = [...merged.values()].map((same) => same.flatMap(([, taskScores]) => taskScores));
    const rewards = different.map((task) => task.map(({ value }) => value));
    const componentOf = (name: string): number[][] =>
      different.map((task) => task.flatMap(({ components }) => components[name] ?? []));
    const finished = this.#episodes - this.#failed;
    const tools = this.#tools.means();
    const malformedCalls = this.#tools.malformed();
    const byCluster = Array.from(Map.groupBy(this.#byTask(), ({ cluster }) => cluster).values(), (same) =>
      same.flatMap(({ solved }) => solved),
    );
    const strict = this.#lost.size === 0 ? undefined : byCluster;
    const toShow = tasksToShow(2 * variance(byCluster.map((solved) => mean(solved) ?? 0)));
    const [matches, sides] = [this.#matches.summaries(), this.#matches.sides()];
    return {
      episodes: this.#episodes,
      scored: scores.length,
      ...(merged.size === this.#tasks.size ? {} : { differentTasks: countTasks([...merged.keys()]) }),
      unscored: this.#unscored,
      failed: this.#failed,
      ...defined({ firstError: this.#firstError, firstUnscored: this.#firstUnscored }),
      ...(this.#outOfRange.length === 0
        ? {}
        : { outOfRange: this.#outOfRange.length, firstOutOfRange: this.#outOfRange[0] as string }),
      truncated: this.#truncated,
      cut: this.#answers === 0 ? null : this.#cutAnswers / this.#answers,
      ...(this.#graded === 0 ? {} : { undecided: this.#undecided / this.#graded }),
      reward: mean(rewards.flat()),
      accuracy: mean(scores.map(solves)),
      ...(strict === undefined ? {} : { strictAccuracy: mean(strict.flat()) ?? 0 }),
      components: Object.fromEntries(names.map((name) => [name, mean(componentOf(name).flat()) ?? 0])),
      tokens: finished === 0 ? null : this.#tokens / finished,
      ...(Object.keys(tools).length === 0 ? {} : { tools }),
      ...defined({ malformedCalls }),
      ...(matches.length === 0 ? {} : { matches }),
      ...(Object.keys(sides).length === 0 ? {} : { sides }),
      intervals: {
        accuracy: meanInterval(different.map((task) => task.map(solves))),
        ...(strict === undefined ? {} : { strictAccuracy: meanInterval(strict) }),
        reward: meanInterval(rewards),
        components: Object.fromEntries(names.map((name) => [name, meanInterval(componentOf(name))])),
      },
      ...(toShow === null ? {} : { tasksToShow: toShow }),
      passAtK: passAtKs(
        Array.from(this.#tasks, ([key, samples]) => ({
          cluster: representative(key),
          samples: samples.length,
          solved: samples.reduce((sum, score) => sum + solves(score), 0),
        })),
      ),
    };
  }
}

/** Adds what an episode took. @param parts of the policy */
function addedCost(
  { sampledTokens, readTokens, seconds }: EvaluationCost,
  { seconds: own }: Trajectory,
  parts: readonly AgentTrajectory[],
): EvaluationCost {
  const masks = parts.flatMap(({ segments }) => segments.map(({ mask }) => mask));
  const tokens = masks.reduce((sum, { length }) => sum + length, 0);
  const sampled = masks.reduce((sum, mask) => sum + mask.reduce((count, each) => count + each, 0), 0);
  return {
    sampledTokens: sampledTokens + sampled,
    readTokens: readTokens + tokens - sampled,
    seconds: seconds + own.sampling + own.environment + (own.players ?? 0),
  };
}

/** Counts tasks by keys of tasks and agents. */
function countTasks(keys: readonly string[]): number {
  const names = keys.map((key) => (JSON.parse(key) as string[]).slice(0, 2).join(" "));
  return new Set(names).size;
}

/** Returns the interval of the mean over all values, which are listed by task. Equal values have equal intervals under any name. */
function meanInterval(given: readonly (readonly number[])[]): Interval | null {
  const tasks = given.filter(({ length }) => length > 0);
  const values = tasks.flat();
  if (values.every((value) => value === 0 || value === 1))
    return shareInterval(
      tasks.map((task) => mean(task) as number),
      values.length,
    );
  return bootstrapInterval(
    tasks.map((task) => ({ sum: task.reduce((sum, value) => sum + value, 0), count: task.length })),
  );
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
