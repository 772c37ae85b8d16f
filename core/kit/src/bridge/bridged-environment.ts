import {
  type Action,
  defined,
  type EnvironmentContext,
  type ImagePart,
  type Message,
  MrlmError,
  type Observation,
  type ResetOptions,
  type Reward,
  type SimulatedEnvironment,
  SINGLE_AGENT,
  type StepResult,
  type TextPart,
  type ToolDefinition,
  type ToolResultPart,
  unscored,
} from "@mrlm/spec";
import { messageText, textMessage, toolCalls } from "../messages.ts";
import type { Places } from "../places.ts";
import { observe, singleStep } from "../single-agent.ts";
import { anyTask, taskById } from "../task-ids.ts";
import type { BridgeOptions } from "./bridge-options.ts";
import { taskPlace, type TaskPlace } from "./catalogue.ts";
import { EpisodeReward } from "./episode-reward.ts";
import { ActionMistake, type RemoteEpisode, type RemoteStep } from "./remote-episode.ts";
import { whenAvailable } from "./when-available.ts";
import { within } from "./within.ts";

/** Seeds of servers are whole numbers from 0 on, and many generators accept 32 bits. */
const SEEDS = 2 ** 32;

/** Server of a bridge under one set of options. */
export interface RemoteServer {
  /** Sessions of this process. */
  readonly places: Places;
  /** Starts an episode. Rejects with a MrlmError of a fault, and with ServerFull. @param seed seed of the episode, for servers that are deterministic */
  start(place: TaskPlace, seed: number | undefined, signal: AbortSignal): Promise<RemoteEpisode>;
}

/** Environment on a server of another framework. One session on the server is one episode. */
export class BridgedEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext;
  readonly #options: BridgeOptions;
  readonly #server: RemoteServer;
  #episode: RemoteEpisode | undefined;
  #giveBack: (() => void) | undefined;
  #reward: EpisodeReward;
  #turns = 0;
  #tools: readonly ToolDefinition[] = [];

  constructor(context: EnvironmentContext, options: BridgeOptions, server: RemoteServer) {
    this.#context = context;
    this.#options = options;
    this.#server = server;
    this.#reward = new EpisodeReward(options.rewards);
  }

  async reset({ seed, task, signal }: ResetOptions): Promise<Observation> {
    await this.close();
    const { tasks } = this.#context;
    const id = task ?? anyTask(this.#context, seed ?? Math.floor(Math.random() * SEEDS));
    const place = taskPlace(await taskById(tasks, id));
    const serverSeed = seed === undefined ? undefined : ((seed % SEEDS) + SEEDS) % SEEDS;
    this.#reward = new EpisodeReward(this.#options.rewards);
    this.#turns = 0;
    const giveBack = await this.#server.places.take(signal);
    try {
      this.#episode = await whenAvailable(
        this.#options.timeouts,
        signal,
        (late) => this.#server.start(place, serverSeed, late),
        (late) => void late.close(),
      );
      this.#giveBack = giveBack;
    } catch (error) {
      giveBack();
      throw error;
    }
    const { messages, isOver = false } = this.#episode;
    if (isOver) {
      await this.close();
      throw new MrlmError("BRIDGE_FAILED", `The episode of task ${id} was over before its first turn.`);
    }
    this.#tools = this.#episode.tools;
    const { prompt } = this.#options;
    return observe([...(prompt === undefined ? [] : [textMessage("user", prompt)]), ...messages], {
      tools: this.#tools,
    });
  }

  async step(action: Action, { signal }: { readonly signal: AbortSignal }): Promise<StepResult> {
    const episode = this.#episode;
    if (episode === undefined) throw new MrlmError("EPISODE_ENDED", "There is no episode on the server.");
    this.#turns++;
    if (action.finishReason === "exhausted")
      return this.#end([], this.#reward.end("its context is full", this.#options.cut_reward), "truncated");
    const messages: Message[] = [];
    let last: RemoteStep | undefined;
    try {
      last = await this.#act(episode, action, messages, signal);
    } catch (error) {
      if (signal.aborted || !MrlmError.isInstance(error)) throw error;
      return this.#end(messages, unscored(error.code, error.message), "truncated");
    }
    if (last?.unscored !== undefined)
      return this.#end(messages, unscored(last.unscored.code, last.unscored.message), "truncated");
    if (last?.done === true) {
      const isCut = last.truncated === true;
      return this.#end(messages, this.#reward.endBy(last), isCut ? "truncated" : "terminated", last);
    }
    if (this.#turns >= this.#options.max_turns)
      return this.#end(messages, this.#reward.end("by max_turns", this.#options.cut_reward), "truncated", last);
    const reward = this.#reward.turn();
    const step = singleStep({
      messages,
      ...defined({ reward }),
      ...(last?.info !== undefined && { info: last.info }),
    });
    const tools = last?.tools;
    if (tools === undefined) return step;
    this.#tools = tools;
    return { ...step, observation: { ...step.observation, agent: SINGLE_AGENT, tools } };
  }

  async close(): Promise<void> {
    const [episode, giveBack] = [this.#episode, this.#giveBack];
    this.#episode = undefined;
    this.#giveBack = undefined;
    try {
      await episode?.close();
    } finally {
      giveBack?.();
    }
  }

  /** Sends an action: its calls one after the other, each as a step of the server, or its text. Adds what the policy reads to `messages`. */
  async #act(
    episode: RemoteEpisode,
    { message, finishReason }: Action,
    messages: Message[],
    signal: AbortSignal,
  ): Promise<RemoteStep | undefined> {
    const calls = toolCalls(message);
    const malformed = message.parts.filter((part) => part.type === "malformed-call");
    const late = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
      within({ ms: this.#options.timeouts.step_ms, what: "A step on the server", signal }, work);
    let last: RemoteStep | undefined;
    if (calls.length + malformed.length === 0) {
      if (episode.sendText === undefined) {
        messages.push(
          textMessage("user", `Call a tool. Available tools: ${this.#tools.map(({ name }) => name).join(", ")}.`),
        );
        return undefined;
      }
      try {
        last = await late(
          (within) => episode.sendText?.(messageText(message), finishReason, within) as Promise<RemoteStep>,
        );
        this.#reward.add(last);
        messages.push(...(last.messages ?? []));
      } catch (error) {
        if (!(error instanceof ActionMistake)) throw error;
        messages.push(textMessage("user", error.message));
      }
      return last;
    }
    const results: ToolResultPart[] = [];
    for (const call of calls) {
      const { id, name } = call;
      const add = (content: readonly (TextPart | ImagePart)[], isError: boolean): void =>
        void results.push({ type: "tool-result", id, name, content, isError });
      if (last?.done === true || last?.unscored !== undefined) {
        add([{ type: "text", text: "The episode has ended; the call was not run." }], true);
        continue;
      }
      if (this.#tools.length === 0) {
        add([{ type: "text", text: "No tool is available. Answer with a text." }], true);
        continue;
      }
      try {
        const step = await late((within) => episode.call(call, within));
        this.#reward.add(step);
        last = { ...step, ...(step.tools === undefined && last?.tools !== undefined && { tools: last.tools }) };
        add(step.content ?? [], step.isError ?? false);
      } catch (error) {
        if (!(error instanceof ActionMistake)) throw error;
        add([{ type: "text", text: error.message }], true);
      }
    }
    if (results.length > 0) messages.push({ role: "tool", parts: results });
    for (const { error } of malformed)
      messages.push(textMessage("tool", `A tool call is malformed and was not run. ${error}`));
    return last;
  }

  /** Ends the episode here and on the server. */
  async #end(
    messages: readonly Message[],
    reward: Reward,
    how: "terminated" | "truncated",
    last?: RemoteStep,
  ): Promise<StepResult> {
    await this.close();
    return singleStep({ messages, reward, [how]: true, ...(last?.info !== undefined && { info: last.info }) });
  }
}
