import { randomBytes, randomUUID } from "node:crypto";
import { textMessage } from "@mrlm/kit";
import { defined, type JsonObject, MrlmError, type StepResult, type TaskId, type ToolDefinition } from "@mrlm/spec";
import type { DialectContext } from "../dialect.ts";
import { Episode } from "../episode.ts";
import { requireOneAgent } from "../one-agent.ts";
import { SUBMIT } from "../submit.ts";
import type { ActionData, ResetData } from "./requests.ts";
import { type Result, refusedCall, resetResult, stepResult, toolResult } from "./result.ts";

/** Clients of this dialect. The ids of their sessions are secrets. */
const OWNER = "openenv";
const KNOWN = new Set(["seed", "episode_id", "task", "split", "index", "options", "id"]);

/** Session of an OpenEnv client: one episode after the other in one environment. */
export class OpenEnvSession {
  readonly id = randomBytes(16).toString("hex");
  readonly environment: string;
  readonly client: string | undefined;
  /** Whether a WebSocket uses the session. */
  isAttached = false;
  /** Whether the session ends when its WebSocket does. */
  endsWithSocket: boolean;
  readonly #context: DialectContext;
  readonly #controller = new AbortController();
  #starting: Promise<unknown> | undefined;
  #episode: Episode | undefined;
  #episodeId = "";
  #task: string | undefined;
  /** Time of the latest request, in milliseconds of `performance.now()`. */
  #touched = performance.now();

  constructor(
    context: DialectContext,
    options: { readonly environment: string; readonly client: string | undefined; readonly endsWithSocket: boolean },
  ) {
    this.#context = context;
    this.environment = options.environment;
    this.client = options.client;
    this.endsWithSocket = options.endsWithSocket;
  }

  /** Milliseconds since the latest request. */
  get idleMs(): number {
    return performance.now() - this.#touched;
  }

  /** Whether an episode is under way. */
  get hasEpisode(): boolean {
    return this.#episode?.isOver === false;
  }

  /** State in the form of the protocol. */
  get state(): JsonObject {
    const episode = this.#episode;
    const reward = episode?.reward;
    return {
      episode_id: episode === undefined ? null : this.#episodeId,
      step_count: episode?.steps ?? 0,
      session_id: this.id,
      environment: this.environment,
      task: this.#task ?? null,
      done: episode?.isOver ?? false,
      total_reward: reward?.scored === true ? reward.value : null,
    };
  }

  /** Starts the lease again. */
  touch(): void {
    this.#touched = performance.now();
    if (this.hasEpisode) this.#episode?.renew();
  }

  /** Begins an episode, and ends the one before. Rejects as a reset does. */
  reset(data: ResetData): Promise<Result> {
    const before = this.#starting;
    const starting = this.#reset(data, before);
    this.#starting = starting;
    return starting;
  }

  /** Acts, or returns the tools. Rejects as a step does. */
  async step(action: ActionData): Promise<Result> {
    if (action.type === "list_tools") return this.#toolList();
    const episode = this.#current();
    const finish = action.metadata?.finish_reason;
    if (action.type === "call_tool") return this.callTool(action.tool_name, action.arguments, finish);
    const { agent } = episode.latest;
    const result = await this.#act(episode, () =>
      episode.act(textMessage("assistant", action.message), this.#controller.signal, finish),
    );
    return stepResult(agent, result, episode.isOver);
  }

  /** Calls a tool: an action, also with an unknown name, as in training. An environment without tools has `submit` only. */
  async callTool(name: string, args: JsonObject, finish?: "stop" | "length"): Promise<Result> {
    const episode = this.#current();
    const { tools, latest } = episode;
    const { agent } = latest;
    const isKnown = tools.some((tool) => tool.name === name);
    if (!isKnown && name === SUBMIT.name) {
      const { text, ...others } = args;
      if (typeof text !== "string" || Object.keys(others).length > 0)
        return refusedCall(name, "invalid_args", `${SUBMIT.name} takes one argument: text, a string.`);
      const result = await this.#act(episode, () =>
        episode.act(textMessage("assistant", text), this.#controller.signal, finish),
      );
      return toolResult({ agent, name, id: "", isKnown: true }, result, episode.isOver);
    }
    if (tools.length === 0)
      return refusedCall(name, "tool_not_found", `There is no tool ${JSON.stringify(name)}. Use ${SUBMIT.name}.`);
    const id = randomUUID();
    const call = { type: "tool-call", id, name, arguments: args } as const;
    const result = await this.#act(episode, () =>
      episode.act({ role: "assistant", parts: [call] }, this.#controller.signal, finish),
    );
    return toolResult({ agent, name, id, isKnown }, result, episode.isOver);
  }

  /** Begins an episode of the environment's choice, unless the session has or had one. */
  async begin(): Promise<void> {
    await (this.#starting ?? this.reset({}));
  }

  /** Returns the tools: of the episode, or of the environment before one began. */
  async tools(): Promise<readonly ToolDefinition[]> {
    if (this.#episode !== undefined) return [...this.#episode.tools.filter(({ name }) => name !== SUBMIT.name), SUBMIT];
    return this.#context.catalogue.tools(this.environment);
  }

  /** Ends the episode. No further one can begin. */
  async close(): Promise<void> {
    this.#controller.abort(new MrlmError("CANCELLED", "The session was closed."));
    await this.#starting?.catch(() => undefined);
    await this.#episode?.close();
  }

  async #reset(data: ResetData, before: Promise<unknown> | undefined): Promise<Result> {
    await before?.catch(() => undefined);
    await this.#episode?.close();
    this.#episode = undefined;
    const { sessions } = this.#context;
    const environment = {
      id: this.environment,
      ...(data.options !== undefined && data.options !== null && { options: data.options as JsonObject }),
    };
    requireOneAgent(await sessions.describe(environment), "OpenEnv");
    const task = await this.#taskOf(data);
    const request = {
      environment,
      ...defined({ task }),
      ...(typeof data.seed === "number" && { seed: data.seed }),
      ...defined({ client: this.client }),
    };
    const episode = await Episode.start(sessions, OWNER, request, this.#controller.signal);
    this.#episode = episode;
    this.#episodeId = data.episode_id ?? randomUUID();
    this.#task = task;
    const ignored = Object.keys(data).filter((name) => !KNOWN.has(name));
    return resetResult(episode.first, {
      session_id: this.id,
      episode_id: this.#episodeId,
      lease_ms: episode.leaseMs,
      ...(ignored.length > 0 && { ignored: ignored.map((name) => name.slice(0, 100)).slice(0, 20) }),
    });
  }

  async #taskOf({ task, split, index }: ResetData): Promise<TaskId | undefined> {
    if (typeof task === "string") return task as TaskId;
    if (typeof split !== "string" && typeof index !== "number") return undefined;
    if (typeof split !== "string" || typeof index !== "number")
      throw new MrlmError("TASK_NOT_FOUND", "A task has both a split and an index.");
    return (await this.#context.catalogue.task(this.environment, split, index)).id;
  }

  #current(): Episode {
    if (this.#episode !== undefined) return this.#episode;
    throw new MrlmError("EPISODE_ENDED", "There is no episode.", { hint: "Send a reset first." });
  }

  /** Acts. A lost session is named as such, with the way out. */
  async #act(episode: Episode, act: () => Promise<StepResult>): Promise<StepResult> {
    this.#touched = performance.now();
    try {
      return await act();
    } catch (error) {
      if (!MrlmError.hasCode(error, "SESSION_NOT_FOUND")) throw error;
      throw new MrlmError(
        "SESSION_NOT_FOUND",
        `No request arrived for ${episode.leaseMs} ms, so the episode was ended.`,
        {
          hint: "Send a reset for another episode.",
          cause: error,
        },
      );
    }
  }

  async #toolList(): Promise<Result> {
    const tools = (await this.tools()).map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: { type: "object", ...parameters },
    }));
    return { observation: { tools, metadata: {} }, reward: null, done: this.#episode?.isOver ?? false, metadata: {} };
  }
}
