import {
  type Action,
  type AgentId,
  anyTask,
  type EnvironmentContext,
  type Message,
  messageText,
  MrlmError,
  type Observation,
  type ResetOptions,
  type Reward,
  score,
  type SimulatedEnvironment,
  type StepResult,
  taskById,
  textMessage,
  unscored,
} from "@mrlm/kit";
import type { PythonOptions } from "./options.ts";
import type { PythonPool } from "./python-pool.ts";
import { LostBehindError, type PythonProcess, type Turn } from "./python-process.ts";
import type { PrivateTask, PublicTask } from "./tasks.ts";
import { untilAborted } from "./until-aborted.ts";

type Context = EnvironmentContext<PublicTask, PrivateTask>;

/** Number of the last episode of this process of mrlm, by which Python processes know them. */
let lastInstance = 0;

/** Episodes of gymnasium and of PettingZoo in a Python process. */
export class GameEnvironment implements SimulatedEnvironment {
  readonly #context: Context;
  readonly #options: PythonOptions;
  readonly #pool: PythonPool;
  #instance = 0;
  #process: PythonProcess | undefined;
  #living = new Set<AgentId>();
  /** Rewards of the episode by agent. */
  readonly #earned = new Map<AgentId, number>();
  /** Agents that have read the rules. */
  readonly #addressed = new Set<AgentId>();
  #turns = 0;

  constructor(context: Context, options: PythonOptions, pool: PythonPool) {
    this.#context = context;
    this.#options = options;
    this.#pool = pool;
  }

  async reset({ task, seed, signal }: ResetOptions): Promise<Observation> {
    await this.close();
    const id = task ?? anyTask(this.#context, seed ?? Math.floor(Math.random() * 2 ** 32));
    const turn = await this.#begin((await taskById(this.#context.tasks, id)).public.seed, signal);
    if (turn.agent === "") {
      await this.close();
      throw new MrlmError("BRIDGE_FAILED", `The episode of task ${id} was over before its first turn.`);
    }
    const { agents } = await this.#pool.facts();
    this.#living = new Set(agents);
    this.#earned.clear();
    this.#addressed.clear();
    this.#turns = 0;
    return { agent: turn.agent, messages: await this.#messages(turn) };
  }

  async step(
    { agent, message, finishReason }: Action,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<StepResult> {
    const process = this.#process;
    if (process === undefined) throw new MrlmError("EPISODE_ENDED", "There is no episode in a Python process.");
    if (finishReason === "exhausted") return this.#endEarly({}, "truncated", signal);
    this.#turns++;
    const { limitMs } = this.#pool;
    let turn: Turn;
    let rewards: Record<AgentId, Reward>;
    try {
      const answer = await process.call("step", [this.#instance, messageText(message)], { limitMs, signal });
      if ("unreadable" in answer) return await this.#endUnreadable(agent, answer.unreadable, signal);
      turn = answer;
      rewards = this.#earn(turn.rewards);
    } catch (error) {
      if (signal.aborted || !MrlmError.isInstance(error)) throw error;
      return this.#end(this.#forAll(unscored(error.code, error.message)), "truncated");
    }
    const ended = (names: readonly AgentId[]): Record<AgentId, true> => {
      for (const name of names) this.#living.delete(name);
      return Object.fromEntries(names.map((name) => [name, true]));
    };
    const [terminated, truncated] = [ended(turn.terminated), ended(turn.truncated)];
    if (turn.agent === "" || this.#turns >= this.#options.max_turns) {
      const rest =
        turn.agent === ""
          ? await this.#end(rewards, "truncated", turn.text)
          : await this.#endEarly(rewards, "truncated", signal);
      return { ...rest, terminated, truncated: { ...truncated, ...rest.truncated } };
    }
    return { observation: { agent: turn.agent, messages: await this.#messages(turn) }, rewards, terminated, truncated };
  }

  async close(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined) return;
    process.instances.delete(this.#instance);
    // Nothing depends on the answer.
    void process.call("close", [this.#instance], { limitMs: this.#pool.limitMs }).catch(() => undefined);
  }

  /** Begins an episode, again in a new process where another episode ended the first one: nothing has been done yet. */
  async #begin(seed: number, signal: AbortSignal): Promise<Turn> {
    for (let attempt = 0; ;)
      try {
        const process = await untilAborted(this.#pool.process(), signal);
        this.#instance = ++lastInstance;
        this.#process = process;
        process.instances.add(this.#instance);
        return await process.call("reset", [this.#instance, seed], { limitMs: this.#pool.limitMs, signal });
      } catch (error) {
        await this.close();
        if (error instanceof LostBehindError) continue;
        if (attempt++ > 0 || !MrlmError.hasCode(error, "BRIDGE_LOST")) throw error;
      }
  }

  /** Returns what an agent reads. Its first message states the rules, and the form of actions. */
  async #messages({ agent, text }: Turn): Promise<readonly Message[]> {
    if (this.#addressed.has(agent)) return [textMessage("user", text)];
    this.#addressed.add(agent);
    const { actions } = await this.#pool.facts();
    const { prompt } = this.#options;
    const rules = [
      ...(prompt === undefined ? [] : [prompt]),
      ...(actions === null
        ? []
        : [`Your action is ${actions}. Reply with it alone, or between <action> and </action>.`]),
    ];
    return [textMessage("user", [...rules, text].join("\n\n"))];
  }

  /** Counts rewards. Throws BRIDGE_REWARD_INVALID, and counts none, where one is no finite number. */
  #earn(rewards: Turn["rewards"]): Record<AgentId, Reward> {
    const entries = Object.entries(rewards);
    const invalid = entries.find(([, reward]) => typeof reward === "string");
    if (invalid !== undefined)
      throw new MrlmError(
        "BRIDGE_REWARD_INVALID",
        `The environment returned the reward ${invalid[1]} of ${invalid[0]}, which is no finite number.`,
      );
    return Object.fromEntries(
      entries.map(([agent, reward]) => {
        this.#earned.set(agent, (this.#earned.get(agent) ?? 0) + Number(reward));
        return [agent, score(Number(reward))];
      }),
    );
  }

  /** Ends an episode with the least reward of the agent whose action cannot be read, whatever it has earned before: an early end must not pay. */
  async #endUnreadable(agent: AgentId, reason: string, signal: AbortSignal): Promise<StepResult> {
    const [least = 0] = this.#options.reward_range ?? [];
    const reward = score(Math.min(0, least - (this.#earned.get(agent) ?? 0)), { unreadable: 1 });
    const result = await this.#endEarly({ [agent]: reward }, "terminated", signal);
    return { ...result, info: { unreadable: reason } };
  }

  /** Ends an episode that has not ended in Python, with what agents have earned since their last turn: they get no other one. */
  async #endEarly(
    rewards: Record<AgentId, Reward>,
    how: "terminated" | "truncated",
    signal: AbortSignal,
  ): Promise<StepResult> {
    return this.#end({ ...(await this.#owed(signal)), ...rewards }, how);
  }

  async #owed(signal: AbortSignal): Promise<Record<AgentId, Reward>> {
    const process = this.#process;
    // The agent on turn has got its rewards.
    if (process === undefined || this.#living.size < 2) return {};
    try {
      return this.#earn(await process.call("owed", [this.#instance], { limitMs: this.#pool.limitMs, signal }));
    } catch (error) {
      if (signal.aborted || !MrlmError.isInstance(error)) throw error;
      return this.#forAll(unscored(error.code, error.message));
    }
  }

  #forAll(reward: Reward): Record<AgentId, Reward> {
    return Object.fromEntries([...this.#living].map((agent) => [agent, reward]));
  }

  /** Ends the episode of all agents that it has not ended for yet. */
  async #end(rewards: Record<AgentId, Reward>, how: "terminated" | "truncated", text = ""): Promise<StepResult> {
    const rest = Object.fromEntries([...this.#living].map((agent) => [agent, true]));
    this.#living.clear();
    await this.close();
    return {
      observation: { agent: "", messages: text === "" ? [] : [textMessage("user", text)] },
      rewards,
      ...{ terminated: {}, truncated: {}, [how]: rest },
    };
  }
}
