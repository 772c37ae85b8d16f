import { parseJson } from "@mrlm/kit/http";
import type { Action, JsonObject, Message, Part } from "@mrlm/spec";
import { type Response, textOf, toolArguments } from "./requests.ts";

/** Action of a model, and the reason for its end. */
export interface ModelTurn {
  readonly message: Message;
  readonly finishReason: Action["finishReason"];
}

/** Returns the action of one response: its texts and its calls. A call whose arguments are no JSON object is malformed, which the environment reports to the model. */
export function modelTurn({ output, incomplete_details: incomplete }: Response): ModelTurn {
  const parts = output.flatMap((item): Part[] => {
    if (item.type === "function_call") return [callOf(item)];
    const text = isAnswer(item) ? textOf(item.content) : "";
    return text === "" ? [] : [{ type: "text", text }];
  });
  return { message: { role: "assistant", parts }, finishReason: reasonOf(incomplete) };
}

/**
 * Returns the answer at the end of a rollout, whose calls have been made already. `undefined` where the rollout ends with a call or its output: the agent
 * stopped before the model answered.
 */
export function finalAnswer({ output, incomplete_details: incomplete }: Response): ModelTurn | undefined {
  const last = output.findLastIndex(({ type }) => type === "function_call" || type === "function_call_output");
  const answers = output.slice(last + 1).filter(isAnswer);
  if (answers.length === 0 && last >= 0 && incomplete === undefined) return undefined;
  const text = answers.map((item) => textOf(item.content)).join("");
  return { message: { role: "assistant", parts: [{ type: "text", text }] }, finishReason: reasonOf(incomplete) };
}

function isAnswer({ type, role }: Response["output"][number]): boolean {
  return (type === "message" || type === undefined) && (role === undefined || role === "assistant");
}

function reasonOf(incomplete: Response["incomplete_details"]): Action["finishReason"] {
  return incomplete === undefined ? "stop" : "length";
}

function callOf({ name = "", arguments: written = "", call_id: id = "" }: Response["output"][number]): Part {
  try {
    const parsed = toolArguments.parse(parseJson(written));
    return { type: "tool-call", id, name, arguments: parsed as JsonObject };
  } catch {
    const error = `The arguments of the call of ${JSON.stringify(name)} are no JSON object.`;
    return { type: "malformed-call", text: `${name}(${written})`, format: "responses", error, offset: name.length + 1 };
  }
}
