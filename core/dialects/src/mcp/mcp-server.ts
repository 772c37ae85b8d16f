import { type CallToolResult, ProtocolError, Server } from "@modelcontextprotocol/server";
import { textMessage } from "@mrlm/kit";
import { VERSION } from "@mrlm/kit/service";
import { logFault } from "@mrlm/server/sessions";
import {
  defined,
  type JsonObject,
  type Logger,
  type Message,
  MrlmError,
  type Reward,
  type StepResult,
} from "@mrlm/spec";
import type { Episode, EpisodeEnd } from "../episode.ts";
import { jsonRpcError } from "../json-rpc-error.ts";
import { refuseTakenName } from "../tool-names.ts";
import { contentOf, textOf } from "./content.ts";
import { FINISH, mcpTools, OBSERVE, TAKEN } from "./own-tools.ts";

/** Name of the prompt that shows the task. */
const TASK_PROMPT = "task";

/**
 * Makes the MCP server of one episode. A call of a tool is a step with one tool call, `finish` a step with a text. A call of a tool that the environment
 * does not have is a step too if it has tools: the environment decides about it, as about that of a trained policy.
 * @param onToolsChanged called when an observation brought other tools
 */
export function mcpServer(
  episode: Episode,
  options: { readonly revealRewards: boolean; readonly logger: Logger; readonly onToolsChanged: () => void },
): Server {
  const { description } = episode;
  refuseTakenName(description.id, episode.tools, TAKEN);
  const server = new Server(
    { name: `mrlm ${description.id}`, version: VERSION },
    { capabilities: { tools: { listChanged: true }, prompts: {} }, instructions: instructions(episode) },
  );
  let calls = 0;

  /** Acts, and returns the result in the form of MCP. */
  async function act(message: Message, signal: AbortSignal, callId?: string): Promise<CallToolResult> {
    const { agent } = episode.latest;
    const result = await episode.act(message, signal);
    if (result.observation.tools !== undefined) {
      refuseTakenName(description.id, result.observation.tools, TAKEN);
      options.onToolsChanged();
    }
    const { revealRewards } = options;
    return callToolResult({
      agent,
      result,
      end: episode.end,
      revealRewards,
      ...defined({ callId }),
    });
  }

  async function call(name: string, args: JsonObject, signal: AbortSignal): Promise<CallToolResult> {
    if (name === OBSERVE) return { content: observed(episode) };
    if (name === FINISH) {
      const { answer } = args;
      if (typeof answer !== "string") return failure(`Invalid arguments of ${FINISH}: answer must be a string.`);
      return act(textMessage("assistant", answer), signal);
    }
    if (episode.tools.length === 0)
      return failure(`There is no tool ${JSON.stringify(name)}. Send your answer by ${FINISH}.`);
    const id = `c${String(++calls).padStart(8, "0")}`;
    return act({ role: "assistant", parts: [{ type: "tool-call", id, name, arguments: args }] }, signal, id);
  }

  server.setRequestHandler("tools/list", () => ({ tools: mcpTools(episode.tools) }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    try {
      return await call(params.name, (params.arguments ?? {}) as JsonObject, mcpReq.signal);
    } catch (error) {
      // A model can do something about these: wait, or end its work.
      if (MrlmError.hasCode(error, "EPISODE_ENDED", "SESSION_BUSY")) return failure(`${error.message} ${error.hint}`);
      logFault(options.logger, error);
      const { code, message, data } = jsonRpcError(error);
      throw new ProtocolError(code, message, data);
    }
  });
  server.setRequestHandler("prompts/list", () => ({
    prompts: [{ name: TASK_PROMPT, description: `The task of this episode of ${description.id}` }],
  }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    if (params.name !== TASK_PROMPT)
      throw new ProtocolError(-32_602, `There is no prompt ${JSON.stringify(params.name)}; there is "${TASK_PROMPT}".`);
    return { messages: contentOf(episode.first.messages).map((content) => ({ role: "user" as const, content })) };
  });
  return server;
}

/** Returns the task, and the latest observation if a step was made. */
function observed({ first, latest, isOver }: Episode): CallToolResult["content"] {
  const content = contentOf(first.messages);
  if (latest !== first) content.push({ type: "text", text: "Latest observation:" }, ...contentOf(latest.messages));
  if (isOver) content.push({ type: "text", text: "The episode has ended." });
  return content;
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Characters of the task in the instructions. Clients put them into the system prompt of a model. */
const MAX_TASK = 16_384;

/** Returns the instructions for a model: what this server is, how an episode ends, and the task. */
function instructions({ description, first, tools }: Episode): string {
  const task = textOf(first.messages);
  const hasImages = first.messages.some(({ parts }) => parts.some(({ type }) => type === "image"));
  const turns =
    description.maxTurns === 0 ? "" : ` You have ${description.maxTurns} turns; each call but ${OBSERVE} is one.`;
  return [
    `This server is one episode of the environment ${description.id}: ${description.description}`,
    `${tools.length > 0 ? "Solve the task with the tools of the server, and then call" : "Solve the task, and call"} ${FINISH} with your answer. It ends the episode.${turns}`,
    `${OBSERVE} shows the task again${hasImages || task.length > MAX_TASK ? ", as a whole and with its images" : ""}.`,
    `Task:\n${task.length > MAX_TASK ? `${task.slice(0, MAX_TASK)}...` : task}`,
  ].join("\n\n");
}

/** Parts of a step that become the result of a tool call. */
interface Stepped {
  /** Id of the tool call; `undefined` for an answer. */
  readonly callId?: string;
  /** Agent that acted. */
  readonly agent: string;
  readonly result: StepResult;
  /** Set by the last step of an episode. */
  readonly end: EpisodeEnd | undefined;
  readonly revealRewards: boolean;
}

/**
 * Returns the result of a tool call: the new messages, and after the last step a sentence about the end. `_meta.mrlm` has the facts for programs:
 * `terminated` and `truncated`; with revealed rewards `reward` and `components` of this step, or `unscored`, and after the last step `total`.
 */
function callToolResult({ callId, agent, result, end, revealRewards }: Stepped): CallToolResult {
  const { messages } = result.observation;
  const own = messages.flatMap(({ parts }) => parts).find((part) => part.type === "tool-result" && part.id === callId);
  const reward = result.rewards[agent];
  const lost = end !== undefined && !end.reward.scored ? end.reward : undefined;
  return {
    content: [
      ...contentOf(messages),
      ...(end === undefined ? [] : [{ type: "text" as const, text: endText(end, revealRewards) }]),
    ],
    isError: (own?.type === "tool-result" && own.isError) || lost !== undefined,
    _meta: {
      mrlm: {
        terminated: end?.terminated ?? false,
        truncated: end?.truncated ?? false,
        ...(revealRewards && {
          ...(reward === undefined ? { reward: 0, components: {} } : rewardFields(reward)),
          ...(end !== undefined && { total: rewardFields(end.reward) }),
        }),
      },
    },
  };
}

function rewardFields(reward: Reward) {
  return reward.scored
    ? { reward: reward.value, components: reward.components }
    : { unscored: { code: reward.code, message: reward.message } };
}

/** States that the episode has ended. A failure of the server is stated in any case, because the messages do not explain the end. */
function endText({ terminated, reward }: EpisodeEnd, revealRewards: boolean): string {
  if (!reward.scored) {
    const reason = revealRewards ? `${reward.code}: ${reward.message}` : reward.code;
    return `The episode has ended without a reward, because it could not be computed (${reason}).`;
  }
  const fact = terminated ? "The episode has ended." : "The episode has ended: a limit was reached.";
  return revealRewards ? `${fact} Reward: ${Number(reward.value.toPrecision(12))}.` : fact;
}
