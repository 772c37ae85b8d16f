import { randomUUID } from "node:crypto";
import { type JsonObject, type Message, MrlmError } from "@mrlm/spec";
import { textMessage } from "@mrlm/kit";
import { SUBMIT } from "../submit.ts";
import type { Episode } from "../episode.ts";
import { callResult, type CallResult, mistake } from "./tool-output.ts";

/**
 * Calls a tool: one step of the episode. The result is a mistake of the model, without a step, for a tool that does not exist, for a text that is none, and
 * after the end of the episode. Rejects when the environment fails, after which the episode is over.
 */
export async function callTool(
  episode: Episode,
  name: string,
  input: JsonObject,
  signal: AbortSignal,
): Promise<CallResult> {
  if (episode.isOver) return mistake("episode_finished", "The episode has ended. No further call is possible.");
  const id = randomUUID();
  const message = actionOf(episode, { id, name, input });
  if ("ok" in message) return message;
  const { agent } = episode.latest;
  try {
    const result = await episode.act(message, signal);
    return callResult(agent, id, result, episode.end);
  } catch (error) {
    if (MrlmError.hasCode(error, "EPISODE_ENDED")) return mistake("episode_finished", error.message);
    if (MrlmError.hasCode(error, "SESSION_BUSY")) return mistake(undefined, `${error.message} (${error.code})`);
    throw error;
  }
}

/** Returns the message of an action, or the mistake in a call. */
function actionOf(
  { tools }: Episode,
  { id, name, input }: { readonly id: string; readonly name: string; readonly input: JsonObject },
): Message | CallResult {
  if (tools.some((tool) => tool.name === name))
    return { role: "assistant", parts: [{ type: "tool-call", id, name, arguments: input }] };
  if (name !== SUBMIT.name) {
    const names = [...tools.map((tool) => tool.name), SUBMIT.name];
    return mistake("not_found", `There is no tool ${JSON.stringify(name)}. Available tools: ${names.join(", ")}.`);
  }
  const { text, ...others } = input;
  if (typeof text !== "string" || Object.keys(others).length > 0)
    return mistake("input_validation", `${SUBMIT.name} takes one argument: text, a string.`);
  return textMessage("assistant", text);
}
