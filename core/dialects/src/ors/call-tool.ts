import { randomUUID } from "node:crypto";
import { textMessage } from "@mrlm/kit";
import { defined, type JsonObject, type Message, MrlmError, type Observation, type StepResult } from "@mrlm/spec";
import type { Episode, EpisodeEnd } from "../episode.ts";
import { stepDetails } from "../step-details.ts";
import { SUBMIT } from "../submit.ts";
import { type Block, blocksOf } from "./blocks.ts";

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

/** Result of a call: `output`, or the mistake of a model, after which the session continues. */
type CallResult =
  | {
      readonly ok: true;
      readonly output: {
        readonly blocks: readonly Block[];
        readonly metadata: JsonObject;
        readonly reward: number | null;
        readonly finished: boolean;
      };
    }
  | { readonly ok: false; readonly error: string; readonly reason?: Mistake };

/** Kind of a model's mistake. `name_collision` cannot occur: the names of an episode's tools differ. */
type Mistake = "not_found" | "input_validation" | "episode_finished";

/** Returns the result of a step. Only the last one has a reward: the total of the episode, unless a step was unscored. */
function callResult(agent: string, callId: string, result: StepResult, end: EpisodeEnd | undefined): CallResult {
  const total = end?.reward;
  return {
    ok: true,
    output: {
      blocks: blocksOf(result.observation.messages),
      metadata: {
        mrlm: {
          ...stepDetails(agent, result),
          is_error: isErrorOf(result.observation, callId),
          ...(total?.scored === false && { unscored: { code: total.code, message: total.message } }),
        },
      },
      reward: total?.scored === true ? total.value : null,
      finished: end !== undefined,
    },
  };
}

/** Returns the result of a call that is no action. */
function mistake(reason: Mistake | undefined, error: string): CallResult {
  return { ok: false, error, ...defined({ reason }) };
}

/** Whether the tool reported an error to the model. */
function isErrorOf({ messages }: Observation, callId: string): boolean {
  return messages.some(({ parts }) =>
    parts.some((part) => part.type === "tool-result" && part.id === callId && part.isError),
  );
}
