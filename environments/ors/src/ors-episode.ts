import { ActionMistake, type RemoteEpisode, type RemoteStep } from "@mrlm/kit/bridge";
import { type JsonObject, type Message, textMessage, type ToolCallPart, type ToolDefinition } from "@mrlm/kit";
import { type OfferedTools, partsOf, readCall, readMessages, readPrompt, readTools, type TextTool } from "./answers.ts";
import type { OrsOptions } from "./options.ts";
import type { OrsSession } from "./ors-session.ts";

/** Tool by which servers take a text, where the options state none. */
const SUBMIT = "submit";

/** Episode of an ORS server: one session. */
export class OrsEpisode implements RemoteEpisode {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly sendText: RemoteEpisode["sendText"];
  readonly #session: OrsSession;

  private constructor(session: OrsSession, messages: readonly Message[], offered: OfferedTools, options: OrsOptions) {
    this.#session = session;
    // An episode begins with a message, also where the server shows nothing.
    this.messages = messages.length > 0 || options.prompt !== undefined ? messages : [textMessage("user", "Begin.")];
    const textTool = textToolOf(offered, options);
    this.tools = offered.tools.filter(({ name }) => name !== textTool?.name);
    if (textTool !== undefined)
      this.sendText = async (text, _finish, signal) => {
        const { name, argument } = textTool;
        const { content = [], isError: _isError, ...step } = await this.#call(name, { [argument]: text }, signal);
        return { ...step, messages: content.length === 0 ? [] : [{ role: "user", parts: content }] };
      };
  }

  /** Reads the tools and the first observation. Ends the session if that fails. Rejects as the session does. */
  static async start(session: OrsSession, options: OrsOptions, signal: AbortSignal): Promise<OrsEpisode> {
    try {
      const offered = readTools(
        (await session.get("/task_tools", signal)) ?? (await session.get("/tools", signal)) ?? null,
      );
      const withRoles = await session.get("/messages", signal);
      const messages =
        withRoles === undefined ? readPrompt((await session.get("/prompt", signal)) ?? null) : readMessages(withRoles);
      return new OrsEpisode(session, messages, offered, options);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  call({ name, arguments: input }: ToolCallPart, signal: AbortSignal): Promise<RemoteStep> {
    return this.#call(name, input, signal);
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  async #call(name: string, input: JsonObject, signal: AbortSignal): Promise<RemoteStep> {
    const answer = readCall(await this.#session.call(name, input, signal));
    if (!answer.ok) throw new ActionMistake(answer.error);
    const { blocks, metadata, reward, finished } = answer.output;
    const { mrlm, ...others } = metadata ?? {};
    const info = { ...(others as JsonObject), ...(mrlm?.components !== undefined && { components: mrlm.components }) };
    return {
      content: partsOf(blocks),
      isError: mrlm?.is_error === true,
      reward,
      done: finished,
      ...(mrlm?.truncated === true && { truncated: true }),
      ...(mrlm?.unscored !== undefined && { unscored: mrlm.unscored }),
      ...(Object.keys(info).length > 0 && { info }),
    };
  }
}

/** Returns the tool that takes a message without a call; `undefined`: none has one text argument. */
function textToolOf({ tools, terminal }: OfferedTools, { text_tool: wanted }: OrsOptions): TextTool | undefined {
  if (wanted === undefined && terminal !== undefined) return terminal;
  const tool = tools.find(({ name }) => name === (wanted ?? SUBMIT));
  const properties = tool?.parameters["properties"];
  if (tool === undefined || typeof properties !== "object" || properties === null) return undefined;
  const [argument, ...others] = Object.keys(properties);
  return argument !== undefined && others.length === 0 ? { name: tool.name, argument } : undefined;
}
