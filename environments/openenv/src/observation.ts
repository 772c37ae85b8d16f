import { contentOf, textOrJson } from "@mrlm/kit/bridge";
import {
  type ImagePart,
  isObject,
  type JsonObject,
  type JsonValue,
  type Message,
  textMessage,
  type TextPart,
} from "@mrlm/kit";

/** Fields beside those that a policy reads. */
const COMMON = ["done", "metadata", "reward"];
/** Roles of messages that an environment may send. */
const ROLES = ["system", "user", "tool"] as const;

/** Returns the observation as messages. A server of mrlm sends messages with roles; of others the policy reads a field, or the whole observation as JSON. */
export function messagesOf(observation: JsonObject, field: string | undefined, isOurs: boolean): Message[] {
  const { messages } = observation;
  if (isOurs && Array.isArray(messages)) return messages.flatMap(chatMessage);
  const text = textIn(observation, field);
  return text === "" ? [] : [textMessage("user", text)];
}

/** Returns the content of the answer to the call of a tool. */
export function toolContent(
  observation: JsonObject,
  field: string | undefined,
): { readonly content: (TextPart | ImagePart)[]; readonly isError: boolean } {
  const { result, error } = observation;
  if (error !== null && error !== undefined) {
    const message = isObject(error) ? error["message"] : error;
    return { content: [{ type: "text", text: textOrJson(message) }], isError: true };
  }
  if (result === undefined) return { content: [{ type: "text", text: textIn(observation, field) }], isError: false };
  if (!isObject(result) || !Array.isArray(result["content"]))
    return { content: [{ type: "text", text: textOrJson(result) }], isError: false };
  return { content: contentOf(result["content"]), isError: result["is_error"] === true };
}

function textIn(observation: JsonObject, field: string | undefined): string {
  if (field !== undefined && field in observation) return textOrJson(observation[field]);
  const shown = Object.entries(observation).filter(([name]) => !COMMON.includes(name));
  const [first] = shown;
  if (first === undefined) return "";
  return shown.length === 1 && typeof first[1] === "string" ? first[1] : JSON.stringify(Object.fromEntries(shown));
}

function chatMessage(message: JsonValue): Message[] {
  if (!isObject(message) || !Array.isArray(message["content"])) return [];
  const role = ROLES.find((each) => each === message["role"]) ?? "user";
  return [{ role, parts: contentOf(message["content"]) }];
}
