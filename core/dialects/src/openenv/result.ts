import type { JsonObject, Message, Observation, StepResult } from "@mrlm/spec";
import { observationText } from "../observation-text.ts";
import { stepDetails } from "../step-details.ts";

/** Answer to a reset or a step. The metadata are in the observation too, where typed clients look for them. */
export interface Result {
  readonly observation: JsonObject;
  readonly reward: number | null;
  readonly done: boolean;
  readonly metadata: JsonObject;
}

/** Content of a tool's result: for models, and as one text for programs. */
interface ToolContent {
  readonly content: readonly JsonObject[];
  readonly data: string;
  readonly is_error: boolean;
}

/** Returns the answer to a reset. @param details facts of the session for which the protocol has no place */
export function resetResult({ messages }: Observation, details: JsonObject): Result {
  const metadata = { mrlm: { terminated: false, truncated: false, ...details } };
  return {
    observation: { text: observationText(messages), messages: chatMessages(messages), metadata },
    reward: null,
    done: false,
    metadata,
  };
}

/** Returns the answer to an action of an agent that is a text. An unscored step has no reward: `null`. */
export function stepResult(agent: string, result: StepResult, isOver: boolean): Result {
  const { messages } = result.observation;
  return answer({ text: observationText(messages), messages: chatMessages(messages) }, agent, result, isOver);
}

/** Returns the answer to the call of a tool. */
export function toolResult(
  call: { readonly agent: string; readonly name: string; readonly id: string; readonly isKnown: boolean },
  result: StepResult,
  isOver: boolean,
): Result {
  const content = toolContent(result.observation.messages, call.id);
  const reward = result.rewards[call.agent];
  // A fault leaves the call without a result.
  const fault = reward?.scored === false ? `${reward.message} (${reward.code})` : undefined;
  const kind = call.isKnown || fault !== undefined ? "execution_error" : "tool_not_found";
  const error = fault !== undefined || content.is_error ? { error_type: kind, message: fault ?? content.data } : null;
  return answer(
    { tool_name: call.name, result: { ...content, content: [...content.content] }, error },
    call.agent,
    result,
    isOver,
  );
}

/** Returns the answer to a call that is no action: the environment did not get it. */
export function refusedCall(name: string, type: "tool_not_found" | "invalid_args", message: string): Result {
  const observation = { tool_name: name, result: null, error: { error_type: type, message }, metadata: {} };
  return { observation, reward: null, done: false, metadata: {} };
}

/** Returns the content of the answer to the call of a tool. */
function toolContent(messages: readonly Message[], id: string): ToolContent {
  const isError = messages.some(({ parts }) =>
    parts.some((part) => part.type === "tool-result" && part.id === id && part.isError),
  );
  return { content: contentOf(messages), data: observationText(messages), is_error: isError };
}

function answer(observation: JsonObject, agent: string, result: StepResult, done: boolean): Result {
  const reward = result.rewards[agent];
  const hasNewTools = result.observation.tools !== undefined;
  const metadata = { mrlm: { ...stepDetails(agent, result), ...(hasNewTools && { tools_changed: true }) } };
  return {
    observation: { ...observation, metadata },
    reward: reward === undefined ? 0 : reward.scored ? reward.value : null,
    done,
    metadata,
  };
}

function chatMessages(messages: readonly Message[]): JsonObject[] {
  return messages.map((message) => ({ role: message.role, content: contentOf([message]) }));
}

/** Returns texts and images in the form of MCP. */
function contentOf(messages: readonly Message[]): JsonObject[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part): JsonObject[] => {
      if (part.type === "tool-result") return contentOf([{ role: "user", parts: part.content }]);
      if (part.type === "image" && "data" in part.source)
        return [{ type: "image", data: Buffer.from(part.source.data).toString("base64"), mimeType: part.mediaType }];
      const text = observationText([{ role: "user", parts: [part] }]);
      return text === "" ? [] : [{ type: "text", text }];
    }),
  );
}
