import { ActionMistake, pause, type RemoteEpisode, type RemoteStep } from "@mrlm/kit/bridge";
import {
  type Action,
  type JsonObject,
  type Message,
  MrlmError,
  textMessage,
  type ToolCallPart,
  type ToolDefinition,
} from "@mrlm/kit";
import type { ActionForm } from "./action-form.ts";
import { ActionRefused, type Observed, readObserved, readState, StillAttached, toolsIn } from "./answers.ts";
import { messagesOf, toolContent } from "./observation.ts";
import type { OpenEnvOptions } from "./options.ts";
import type { Socket } from "./socket.ts";

/** Tool of a server of mrlm that takes a text. A text needs no tool here. */
const SUBMIT = "submit";
/** Pause before a lost session is continued: its server learns of the loss later. */
const RESUME_MS = 50;
const RESUMES = 40;

/** Session on a server. */
export interface OpenEnvConnection {
  readonly socket: Socket;
  readonly form: ActionForm;
  readonly options: OpenEnvOptions;
  /** Connects to the session of an id. */
  resume(session: string, signal: AbortSignal): Promise<Socket>;
}

/** Episode of an OpenEnv server, over one WebSocket. */
export class OpenEnvEpisode implements RemoteEpisode {
  readonly messages: readonly Message[];
  readonly isOver: boolean;
  readonly sendText: RemoteEpisode["sendText"];
  readonly #connection: OpenEnvConnection;
  /** Id of the session, which a server of mrlm states. */
  readonly #session: string | undefined;
  #socket: Socket;
  #tools: readonly ToolDefinition[] = [];

  private constructor(connection: OpenEnvConnection, first: Observed) {
    this.#connection = connection;
    this.#socket = connection.socket;
    this.#session = first.metadata?.mrlm?.session_id;
    this.isOver = first.done;
    const { form, options } = connection;
    const isOurs = this.#session !== undefined;
    const messages = messagesOf(first.observation, options.observation_field, isOurs);
    // An episode begins with a message, also where the server shows nothing.
    this.messages = messages.length > 0 || options.prompt !== undefined ? messages : [textMessage("user", "Begin.")];
    const ofText = form.ofText ?? (isOurs ? (text: string): JsonObject => ({ message: text }) : undefined);
    this.sendText =
      ofText === undefined ? undefined : (text, finish, signal) => this.#sendText(ofText, text, finish, signal);
  }

  /** Starts an episode. Rejects as `readObserved` does. Closes the socket if that fails. */
  static async start(connection: OpenEnvConnection, reset: JsonObject, signal: AbortSignal): Promise<OpenEnvEpisode> {
    try {
      const text = await connection.socket.ask({ type: "reset", data: reset }, signal);
      const episode = new OpenEnvEpisode(connection, readObserved(text, "reset"));
      if (connection.form.hasTools) episode.#tools = await episode.#listTools(signal);
      return episode;
    } catch (error) {
      await connection.socket.close();
      throw error;
    }
  }

  get tools(): readonly ToolDefinition[] {
    return this.#tools;
  }

  async call({ name, arguments: given }: ToolCallPart, signal: AbortSignal): Promise<RemoteStep> {
    const answer = await this.#step({ type: "call_tool", tool_name: name, arguments: given }, signal);
    const { observation_field: field } = this.#connection.options;
    return { ...toolContent(answer.observation, field), ...(await this.#rest(answer, signal)) };
  }

  async close(): Promise<void> {
    await this.#socket.close();
  }

  async #sendText(
    ofText: (text: string) => JsonObject,
    text: string,
    finish: Action["finishReason"],
    signal: AbortSignal,
  ): Promise<RemoteStep> {
    const isOurs = this.#session !== undefined;
    const metadata: JsonObject = isOurs && finish === "length" ? { metadata: { finish_reason: finish } } : {};
    const answer = await this.#step({ ...ofText(text), ...metadata }, signal);
    const { observation_field: field } = this.#connection.options;
    const messages = messagesOf(answer.observation, field, isOurs);
    return { messages, ...(await this.#rest(answer, signal)) };
  }

  /** Returns the part of a result that all actions have. */
  async #rest({ reward, done, metadata }: Observed, signal: AbortSignal): Promise<Omit<RemoteStep, "messages">> {
    const { mrlm, ...others } = metadata ?? {};
    const info = {
      ...(others as JsonObject),
      ...(mrlm?.components !== undefined && { components: mrlm.components }),
    };
    return {
      reward,
      done,
      ...(mrlm?.truncated === true && { truncated: true }),
      ...(mrlm?.unscored !== undefined && { unscored: mrlm.unscored }),
      ...(mrlm?.tools_changed === true && !done && { tools: (this.#tools = await this.#listTools(signal)) }),
      ...(Object.keys(info).length > 0 && { info }),
    };
  }

  async #listTools(signal: AbortSignal): Promise<ToolDefinition[]> {
    const { observation } = readObserved(await this.#ask({ type: "list_tools" }, signal), "list_tools");
    const tools = toolsIn(observation);
    return this.#session === undefined ? tools : tools.filter(({ name }) => name !== SUBMIT);
  }

  async #step(data: JsonObject, signal: AbortSignal): Promise<Observed> {
    try {
      return readObserved(await this.#ask(data, signal), "step");
    } catch (error) {
      if (error instanceof ActionRefused) throw new ActionMistake(`The action was refused: ${error.message}`);
      throw error;
    }
  }

  /** Sends a step. A socket that was lost before is replaced where the server continues sessions. After one that is lost meanwhile it is unknown whether the step was taken. */
  async #ask(data: JsonObject, signal: AbortSignal): Promise<string> {
    if (!this.#socket.isOpen && this.#session !== undefined) this.#socket = await this.#resume(this.#session, signal);
    return this.#socket.ask({ type: "step", data }, signal);
  }

  async #resume(session: string, signal: AbortSignal): Promise<Socket> {
    for (let tries = 1; ; tries++) {
      let socket: Socket | undefined;
      try {
        socket = await this.#connection.resume(session, signal);
        // A refusal comes in the place of the state.
        readState(await socket.ask({ type: "state" }, signal));
        return socket;
      } catch (error) {
        await socket?.close();
        const isEarly = error instanceof StillAttached || MrlmError.hasCode(error, "BRIDGE_UNREACHABLE");
        if (!isEarly || tries === RESUMES) throw error;
        await pause(RESUME_MS, signal);
      }
    }
  }
}
