import { toolCalls } from "@mrlm/kit";
import { programOf, wastedSpans } from "@mrlm/kit/learning";
import {
  type AgentEnd,
  type AgentId,
  type AgentTrajectory,
  type JsonValue,
  type Message,
  MrlmError,
  type Observation,
  type Renderer,
  type Reward,
  roleOf,
  score,
  type Segment,
  type StepResult,
  type TokenSpan,
  type Trajectory,
  type TurnRecord,
  unscored,
} from "@mrlm/spec";
import { MAX_REWARD, type PlayedBy, type RewardSharing, type SampleResult, type SharedReward } from "@mrlm/spec/host";
import { firstAgents } from "../host/roles.ts";
import { ownMember } from "../names/own-member.ts";
import type { EpisodePlan } from "./episode-plan.ts";
import type { PromptCache } from "./prompt-cache.ts";
import { Transcript } from "./transcript.ts";

/** Message of an agent that has no room to answer. */
export const EMPTY_MESSAGE: Message = { role: "assistant", parts: [] };

/** Record of an episode while it is played. */
export class EpisodeRecord {
  readonly #plan: EpisodePlan;
  readonly #rendererOf: (agent: AgentId) => Renderer;
  readonly #prompts: PromptCache;
  readonly #transcripts = new Map<AgentId, Transcript>();
  readonly #turns: TurnRecord[] = [];
  readonly #rewards = new Map<AgentId, Reward[]>();
  readonly #ends = new Map<AgentId, AgentEnd>();
  /** Agents that exist: those of single roles, and those that an observation, a reward or an end named. */
  readonly #named: Set<AgentId>;
  /** Ids of the calls of all agents, those of scripts too: a new call gets another. */
  readonly #callIds = new Set<string>();
  readonly #seconds: { -readonly [What in keyof Trajectory["seconds"]]: number } = { sampling: 0, environment: 0 };
  #info: Trajectory["info"];
  /** Limit of the run that ended the episode. */
  #cutBy: "turns" | "tokens" | undefined;
  readonly #judgements: JsonValue[] = [];
  #error: Trajectory["error"];

  constructor(plan: EpisodePlan, rendererOf: (agent: AgentId) => Renderer, prompts: PromptCache) {
    this.#prompts = prompts;
    this.#plan = plan;
    this.#rendererOf = rendererOf;
    this.#named = new Set(firstAgents(plan.description.roles));
  }

  get turns(): readonly TurnRecord[] {
    return this.#turns;
  }

  get turnCount(): number {
    return this.#turns.length;
  }

  /** Whether a model has acted. */
  get hasTokens(): boolean {
    return this.#turns.some(({ tokens }) => tokens !== undefined);
  }

  /** Measures the time of a call. */
  async timed<T>(what: keyof Trajectory["seconds"], work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.#seconds[what] = (this.#seconds[what] ?? 0) + (performance.now() - began) / 1000;
    }
  }

  /** Counts a part of a wait for the sampler as a wait for the policies of plugins that delayed it. */
  waitedForPlayers(seconds: number): void {
    if (seconds <= 0) return;
    this.#seconds.sampling -= seconds;
    this.#seconds.players = (this.#seconds.players ?? 0) + seconds;
  }

  /** Returns true if an agent besides this one has not ended, or if a role with `many` can bring another one. */
  othersPlay(agent: AgentId): boolean {
    if (Object.values(this.#plan.description.roles).some(({ many }) => many === true)) return true;
    return [...this.#named].some((other) => other !== agent && !this.#ends.has(other));
  }

  /** Whether the episode is a run of a program, which its environment scores at its end. */
  get isProgram(): boolean {
    return programOf(this.#info) !== undefined;
  }

  /** Adds an observation to the agent on turn and returns its whole prompt. */
  observe(observation: Observation): Int32Array {
    const transcript =
      this.#transcripts.get(observation.agent) ??
      new Transcript(this.#rendererOf(observation.agent), this.#prompts, this.#callIds);
    this.#transcripts.set(observation.agent, transcript);
    this.#named.add(observation.agent);
    this.#takeIds(observation.messages);
    return transcript.observe(observation);
  }

  /** Removes the last observation of an agent, which it has no room to answer. */
  withdraw(agent: AgentId): void {
    this.#transcripts.get(agent)?.withdraw();
  }

  choose(agent: AgentId, sampled: SampleResult): { readonly message: Message; readonly span: TokenSpan } {
    const transcript = this.#transcripts.get(agent);
    if (transcript === undefined)
      throw new MrlmError("INTERNAL", `Agent ${agent} sampled before its first observation.`);
    return transcript.choose(sampled);
  }

  /** Adds a turn with the environment's result. */
  turn(
    observation: Observation,
    response: { readonly message: Message; /** Absent where a script acted. */ readonly span?: TokenSpan },
    stopReason: TurnRecord["stopReason"],
    result: StepResult,
  ): void {
    const { message, span } = response;
    this.#takeIds([message]);
    this.#add(observation, { response: message, ...(span === undefined ? {} : { tokens: span }), stopReason }, result);
  }

  /** Adds the turn of an agent that had no room to answer, with the environment's result. */
  exhausted(observation: Observation, result: StepResult): void {
    const turn = { response: EMPTY_MESSAGE, stopReason: "exhausted" } as const;
    this.#add(observation, turn, result);
  }

  /** Truncates the episode for all agents that have not ended, by a limit of the run. */
  truncate(truncatedBy: "turns" | "tokens"): void {
    this.#cutBy = truncatedBy;
    for (const agent of this.#named)
      if (!this.#ends.has(agent)) this.#ends.set(agent, { terminated: false, truncated: true, truncatedBy });
  }

  /** Records an error. Earlier turns remain. */
  fail(error: unknown): void {
    const code = MrlmError.isInstance(error) ? error.code : "INTERNAL";
    this.#error = { code, message: error instanceof Error ? error.message : String(error) };
  }

  trajectory(): Trajectory {
    const { id, group, identity, environment, description, seed, rewardSharing } = this.#plan;
    const acted = this.#turns.map(({ agent }) => agent);
    const named = new Set([...this.#transcripts.keys(), ...this.#rewards.keys(), ...acted]);
    const agents = Object.fromEntries([...named].map((agent) => [agent, this.#agent(agent)]));
    return {
      id,
      environment: description.id ?? environment.id,
      task: identity.task,
      seed,
      group,
      member: identity.member,
      turns: this.#turns,
      agents: shareRewards(agents, rewardSharing),
      ...(this.#error === undefined ? {} : { error: this.#error }),
      ...this.#allInfo(),
      seconds: { ...this.#seconds },
    };
  }

  /** Returns the `info` of the last step that has one, with the judgements of all steps. */
  #allInfo(): Pick<Trajectory, "info"> {
    if (this.#info === undefined) return {};
    return { info: this.#judgements.length === 0 ? this.#info : { ...this.#info, judgements: this.#judgements } };
  }

  #takeIds(messages: readonly Message[]): void {
    for (const { id } of messages.flatMap(toolCalls)) this.#callIds.add(id);
  }

  #add(
    { agent, messages, isFresh, tools, info: { stateKey, difficulty } = {} }: Observation,
    turn: Pick<TurnRecord, "response" | "tokens" | "stopReason">,
    { observation, rewards, terminated, truncated, info }: StepResult,
  ): void {
    this.#turns.push({
      agent,
      messages,
      ...(isFresh === true ? { isFresh } : {}),
      ...(typeof stateKey === "string" ? { state: stateKey } : {}),
      ...(typeof difficulty === "number" && this.#turns.length === 0 ? { difficulty } : {}),
      ...(tools === undefined ? {} : { tools }),
      ...turn,
      rewards,
    });
    for (const [earner, reward] of Object.entries(rewards))
      this.#rewards.set(earner, [...(this.#rewards.get(earner) ?? []), reward]);
    this.#info = info ?? this.#info;
    const judgements = info?.["judgements"];
    if (Array.isArray(judgements)) this.#judgements.push(...judgements);
    for (const named of [agent, ...Object.keys(rewards), ...Object.keys(terminated), ...Object.keys(truncated)])
      this.#named.add(named);
    if (observation.agent !== "") this.#named.add(observation.agent);
    const { maxTurns } = this.#plan.description;
    const limit = maxTurns > 0 && this.#turns.length >= maxTurns ? "turns" : "environment";
    for (const each of this.#named) {
      const isTerminated = terminated[each] === true;
      const isTruncated = truncated[each] === true;
      if (this.#ends.has(each) || !(isTerminated || isTruncated)) continue;
      const truncatedBy = each === agent && turn.stopReason === "exhausted" ? "tokens" : limit;
      this.#ends.set(each, {
        terminated: isTerminated,
        truncated: isTruncated,
        ...(isTruncated ? { truncatedBy } : {}),
      });
    }
  }

  /** Returns the segments of an agent. Tokens that a program has not read are not learnt. */
  #segments(agent: AgentId): Segment[] {
    const segments = this.#transcripts.get(agent)?.segments() ?? [];
    for (const { segment, start, end } of wastedSpans({ turns: this.#turns, ...this.#allInfo() }, agent))
      segments[segment]?.mask.fill(0, start, end);
    return segments;
  }

  #total(agent: AgentId): Reward {
    if (this.#cutBy === undefined || !this.isProgram) return totalReward(this.#rewards.get(agent) ?? []);
    const text = `The limit of ${this.#cutBy} of the run ended the episode after ${this.#turns.length} turns, before its program.`;
    return unscored("AGENT_CUT", text);
  }

  #agent(agent: AgentId): AgentTrajectory {
    return {
      role: roleOf(agent),
      player: this.#plan.players[roleOf(agent)] as PlayedBy,
      segments: this.#segments(agent),
      total: this.#total(agent),
      end: this.#ends.get(agent) ?? { terminated: false, truncated: false },
    };
  }
}

/** Adds scored rewards and their components. Unscored if one reward is unscored, because part of a sum is not the sum, or if a sum is too large to learn from. */
export function totalReward(rewards: readonly Reward[]): Reward {
  const components: Record<string, number> = {};
  let value = 0;
  for (const reward of rewards) {
    if (!reward.scored) return reward;
    value += reward.value;
    for (const [name, component] of Object.entries(reward.components))
      components[name] = (components[name] ?? 0) + component;
  }
  const large = [value, ...Object.values(components)].find((sum) => !(Math.abs(sum) <= MAX_REWARD));
  if (large === undefined) return score(value, components);
  return unscored(
    "ENVIRONMENT_FAILED",
    `The rewards of the episode add up to ${large}, more than ${MAX_REWARD} from 0.`,
  );
}

type Agents = Readonly<Record<AgentId, AgentTrajectory>>;

/** Adds the shared reward to the parts of an episode whose roles learn from other rewards than their own. */
export function shareRewards(agents: Agents, sharing: RewardSharing): Agents {
  return Object.fromEntries(
    Object.entries(agents).map(([agent, part]) => {
      const row = ownMember(sharing, part.role);
      return [
        agent,
        row === undefined ? part : { ...part, shared: sharedReward(agents, agentWeights(agent, row, agents)) },
      ];
    }),
  );
}

/** Returns the weights of agents by a row of the matrix, without those of 0. */
function agentWeights(agent: AgentId, row: RewardSharing[string], agents: Agents): SharedReward["weights"] {
  const own = roleOf(agent);
  return Object.fromEntries(
    Object.keys(agents).flatMap((other) => {
      const role = roleOf(other);
      const weight = ownMember(row, role) ?? 0;
      if (weight === 0 || (role === own && other !== agent)) return [];
      const count = role === own ? 1 : Object.keys(agents).filter((each) => roleOf(each) === role).length;
      return [[other, weight / count]];
    }),
  );
}

function sharedReward(agents: Agents, weights: SharedReward["weights"]): SharedReward {
  let value = 0;
  for (const [agent, weight] of Object.entries(weights)) {
    const { total } = agents[agent] as AgentTrajectory;
    if (!total.scored)
      return { ...unscored(total.code, `The reward of "${agent}" is shared: ${total.message}`), weights };
    value += weight * total.value;
  }
  if (Math.abs(value) <= MAX_REWARD) return { ...score(value), weights };
  return {
    ...unscored("ENVIRONMENT_FAILED", `The shared rewards add up to ${value}, more than ${MAX_REWARD} from 0.`),
    weights,
  };
}
