import { repeatedHistory } from "@mrlm/kit/service";
import type {
  AgentId,
  Logger,
  ModelId,
  MrlmError,
  PolicyId,
  Renderer,
  Trajectory,
  TrajectoryGroup,
  TurnRecord,
} from "@mrlm/spec";
import type {
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentRef,
  PlannedGroup,
  RolloutRequest,
  Rollouts,
  Sampler,
  SamplerHost,
} from "@mrlm/spec/host";
import { assignPlayers, playedBy } from "./assign-players.ts";
import { BranchedEpisodes } from "./branched-episodes.ts";
import { environmentSeed, type EpisodePlan, groupId } from "./episode-plan.ts";
import { EpisodePool } from "./episode-pool.ts";
import { policyOfPast } from "./past-versions.ts";
import { PlayTally } from "./play-tally.ts";
import { ReplayWatch } from "./replay-watch.ts";
import { ResilientSession } from "./resilient-session.ts";
import { RewardWatch } from "./reward-watch.ts";
import { KeepingSession, RestoredSession, stateBefore } from "./snapshot-sessions.ts";

export interface RolloutRunnerOptions {
  readonly host: EnvironmentHost;
  readonly engine: Pick<SamplerHost, "sampler">;
  readonly runSeed: number;
  /** Whether there is a barrier at each turn and groups are in the order of the tasks. */
  readonly isDeterministic: boolean;
  readonly concurrency: number;
  /** Longest wait for a host that refuses sessions, in milliseconds. */
  readonly maxWaitMs: number;
  readonly logger: Logger;
  /** Counts sessions that are opened again. Default: one of its own, which only warns. */
  readonly replays?: ReplayWatch;
  /** Reports rewards outside of their range. Default: one of its own. */
  readonly rewards?: RewardWatch;
  /** Counts answers and episodes. Default: one of its own. */
  readonly tally?: PlayTally | undefined;
  /** Called with the environment of each request: its server may have replaced the package. */
  onDescription?(description: EnvironmentDescription): void;
  renderer(model: ModelId): Renderer;
  /** Longest sequence that the model and the configuration permit. */
  tokenLimit(model: ModelId): number;
  /** Version of the weights with which a policy begins to play, if it is known. */
  version?(policy: PolicyId): number | undefined;
  /** Earlier versions of a policy that the engine holds, ascending. Needed where they play. */
  pastVersions?(policy: PolicyId): readonly number[];
  /** Turn limit of the configuration for an environment; 0: none. */
  turnLimit(environment: EnvironmentRef): number;
}

/** Number of episodes of an environment that are examined for repeated history. An environment that repeats it does so in all episodes. */
const EXAMINED_EPISODES = 32;

/** Plays groups of episodes with bounded concurrency. */
export class RolloutRunner implements Rollouts {
  readonly #options: RolloutRunnerOptions;
  readonly #replays: ReplayWatch;
  readonly #rewards: RewardWatch;
  readonly #tally: PlayTally;
  readonly #examined = new Map<string, number>();

  constructor(options: RolloutRunnerOptions) {
    this.#options = options;
    this.#replays = options.replays ?? new ReplayWatch(options.logger);
    this.#tally = options.tally ?? new PlayTally();
    this.#rewards = options.rewards ?? new RewardWatch(options.logger);
  }

  async *collect(request: RolloutRequest): AsyncGenerator<TrajectoryGroup, void, undefined> {
    const { host, engine, isDeterministic, concurrency, maxWaitMs, logger, renderer } = this.#options;
    const stop = new AbortController();
    const signal = request.signal === undefined ? stop.signal : AbortSignal.any([request.signal, stop.signal]);
    const description = await host.describe(request.environment);
    this.#options.onDescription?.(description);
    this.#rewards.describe(description);
    const plans = this.#plan(request, description, signal);
    const samplers = new Map<ModelId, Promise<Sampler>>();
    const samplerOf = (model: ModelId): Promise<Sampler> => {
      const sampler = samplers.get(model) ?? engine.sampler(model);
      samplers.set(model, sampler);
      return sampler;
    };
    const queue = new GroupQueue(plans, isDeterministic && request.isSingly !== true, request.isSingly === true);
    const add = (plan: EpisodePlan, trajectory: Trajectory): void => queue.add(plan, trajectory);
    const branched = request.branches === undefined ? undefined : new BranchedEpisodes(request.branches, add);
    const pool = new EpisodePool({
      plans,
      // Branches take the places of the episodes: a caller that plays several requests at once has divided its places among them.
      concurrency: request.branches === undefined ? concurrency : Math.min(concurrency, plans.length),
      isDeterministic,
      signal,
      samplerOf,
      renderer,
      session: (plan) => {
        const { states, branch } = plan;
        const onLoss = (error: MrlmError): void => this.#replays.note(error);
        const options = { maxWaitMs, logger, onLoss };
        if (states === undefined) return new ResilientSession(plan, host, options);
        if (branch === undefined) return new KeepingSession(new ResilientSession(plan, host, options), states);
        const start = stateBefore(states, branch.turn);
        return new RestoredSession(new ResilientSession(plan, host, { ...options, start }), states, branch.turn);
      },
      logger,
      tally: this.#tally,
      giveUp: () => stop.abort(),
    });
    const playing = pool
      .play((plan, trajectory) => {
        this.#rewards.note(trajectory);
        if (plan.branch === undefined) {
          this.#examine(trajectory);
          this.#tally.addEpisode(trajectory);
        }
        if (branched !== undefined) return branched.add(plan, trajectory);
        queue.add(plan, trajectory);
        return [];
      })
      .then(
        () => queue.end(),
        (error: unknown) => queue.fail(error),
      );
    try {
      yield* queue.groups();
    } finally {
      stop.abort();
      await playing;
      this.#replays.flush();
      await Promise.allSettled([...samplers.values()].map(async (sampler) => (await sampler).close()));
    }
  }

  /** Returns the groups that `collect` plays for a request, in their order. */
  async groupsOf(request: RolloutRequest): Promise<PlannedGroup[]> {
    const { signal = new AbortController().signal } = request;
    const plans = this.#plan(request, await this.#options.host.describe(request.environment), signal);
    return Array.from(
      Map.groupBy(plans, ({ group }) => group),
      ([id, members]) => {
        const { identity, seed } = members[0] as EpisodePlan;
        return { id, task: identity.task, seed, size: members.length };
      },
    );
  }

  #plan(request: RolloutRequest, description: EnvironmentDescription, signal: AbortSignal): EpisodePlan[] {
    const { runSeed, tokenLimit, turnLimit } = this.#options;
    const { environment, groupSize, label, policySampling = {} } = request;
    const limits = [request.maxTurns ?? 0, turnLimit(environment)].filter((limit) => limit > 0);
    const roles = Object.keys(description.roles);
    const versionOf = (policy: PolicyId): number | undefined =>
      request.versions?.[policy] ?? this.#options.version?.(policy);
    const seen = new Map<string, number>();
    return request.tasks
      .flatMap((task, i) => {
        const occurrence = request.occurrences?.[i] ?? seen.get(task) ?? 0;
        seen.set(task, occurrence + 1);
        const of = { runSeed, label, environment: description.id, task, occurrence };
        const acting = assignPlayers(request, roles, {
          runSeed,
          group: groupId(of),
          pastVersions: (policy) => this.#options.pastVersions?.(policy) ?? [],
        });
        const players = Object.fromEntries(
          Object.entries(acting).map(([role, player]) => [
            role,
            playedBy(player, player.kind === "policy" ? versionOf(player.policy) : undefined),
          ]),
        );
        const members = request.members?.[i] ?? Array.from({ length: groupSize }, (_, member) => member);
        return members.map((member): Omit<EpisodePlan, "order"> => {
          const identity = { ...of, member };
          const group = groupId(identity);
          return {
            identity,
            id: `${group}/${member}`,
            group,
            environment,
            description,
            seed: description.determinism === "none" ? null : environmentSeed(identity),
            sampling: (model = "") => policySampling[policyOfPast(model) ?? model] ?? request.sampling,
            maxTurns: limits.length > 0 ? Math.min(...limits) : 0,
            signal,
            acting,
            players,
            rewardSharing: request.rewardSharing ?? {},
            ...(request.branches !== undefined && description.snapshots === true && { states: { steps: [] } }),
            tokenLimit: (id) => Math.min(tokenLimit(id), request.maxSequenceTokens ?? Infinity),
          };
        });
      })
      .map((plan, order) => ({ ...plan, order }));
  }

  /** Warns once about an environment whose observations repeat what an agent has seen. */
  #examine({ environment, turns }: Trajectory): void {
    const examined = this.#examined.get(environment) ?? 0;
    if (examined >= EXAMINED_EPISODES || turns.length < 2) return;
    this.#examined.set(environment, examined + 1);
    const first = new Map<AgentId, TurnRecord>();
    for (const [i, turn] of turns.entries()) {
      const earlier = turn.isFresh === true ? undefined : first.get(turn.agent);
      const repeated = earlier === undefined ? undefined : repeatedHistory(earlier.messages, turn.messages);
      if (repeated !== undefined) {
        this.#examined.set(environment, EXAMINED_EPISODES);
        const hint =
          "An observation holds only messages that are new; otherwise the policy reads every earlier turn again.";
        return this.#options.logger.warn(
          `The observation before turn ${i + 1} of environment ${environment} repeats what agent "${turn.agent}" has already seen: ${repeated}. ${hint}`,
        );
      }
      if (earlier === undefined) first.set(turn.agent, turn);
    }
  }
}

/** Queue that collects episodes by group id and yields each group when it is complete. */
class GroupQueue {
  readonly #isOrdered: boolean;
  readonly #order: readonly string[];
  readonly #keyOf: (plan: EpisodePlan) => string;
  readonly #plans = new Map<string, EpisodePlan>();
  readonly #sizes = new Map<string, number>();
  readonly #members = new Map<string, Trajectory[]>();
  readonly #ready = new Map<string, TrajectoryGroup>();
  #yielded = 0;
  #failure: { readonly error: unknown } | undefined;
  #hasEnded = false;
  #news = Promise.withResolvers<void>();

  /**
   * @param isOrdered yield groups in the order of their tasks instead of the order of completion
   * @param isSingly yield each episode as a group of its own
   */
  constructor(plans: readonly EpisodePlan[], isOrdered: boolean, isSingly: boolean) {
    this.#isOrdered = isOrdered;
    this.#keyOf = isSingly ? ({ id }) => id : ({ group }) => group;
    this.#order = [...new Set(plans.map(this.#keyOf))];
    for (const plan of plans) {
      const key = this.#keyOf(plan);
      this.#plans.set(key, plan);
      this.#sizes.set(key, (this.#sizes.get(key) ?? 0) + 1);
    }
  }

  add(plan: EpisodePlan, trajectory: Trajectory): void {
    const key = this.#keyOf(plan);
    const members = [...(this.#members.get(key) ?? []), trajectory];
    this.#members.set(key, members);
    if (members.length < (this.#sizes.get(key) as number)) return;
    this.#members.delete(key);
    const { identity, players, group: id } = this.#plans.get(key) as EpisodePlan;
    this.#ready.set(key, {
      id,
      task: identity.task,
      players,
      trajectories: members.sort((a, b) => a.member - b.member),
    });
    this.#notify();
  }

  end(): void {
    this.#hasEnded = true;
    this.#notify();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#notify();
  }

  async *groups(): AsyncGenerator<TrajectoryGroup, void, undefined> {
    while (this.#yielded < this.#order.length) {
      const key = this.#isOrdered ? this.#order[this.#yielded] : this.#ready.keys().next().value;
      const group = key === undefined ? undefined : this.#ready.get(key);
      if (key !== undefined && group !== undefined) {
        this.#ready.delete(key);
        this.#yielded++;
        yield group;
      } else if (this.#failure !== undefined) {
        // A stopped evaluation keeps them; nothing else uses the groups before an error.
        yield* this.#ready.values();
        throw this.#failure.error;
      } else if (this.#hasEnded) return;
      else await this.#news.promise;
    }
  }

  #notify(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}
