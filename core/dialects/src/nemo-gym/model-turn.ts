import { type Action, type JsonObject, type Message, parseStrictJson, type Part } from "@mrlm/spec";
import { type Response, textOf, toolArguments } from "./requests.ts";

/** Action of a model, and the reason for its end. */
export interface ModelTurn {
  readonly message: Message;
  readonly finishReason: Action["finishReason"];
  /** Ids of the malformed calls. */
  readonly malformedIds: readonly string[];
}

/** Returns the action of one response: its texts and its calls. A call whose arguments are no JSON object is malformed, which the environment reports to the model. */
export function modelTurn({ output, incomplete_details: incomplete }: Response): ModelTurn {
  const malformedIds: string[] = [];
  const parts = output.flatMap((item, index): Part[] => {
    if (item.type === "function_call") {
      const id = item.call_id || `call_${index}`;
      const part = callOf(item, id);
      if (part.type === "malformed-call") malformedIds.push(id);
      return [part];
    }
    const text = isAnswer(item) ? textOf(item.content) : "";
    return text === "" ? [] : [{ type: "text", text }];
  });
  return { message: { role: "assistant", parts }, finishReason: reasonOf(incomplete), malformedIds };
}

/**
 * Returns the answer at the end of a rollout, whose calls have been made already. `undefined` where the rollout ends with a call or its output: the agent
 * stopped before the model answered. The calls of a response that was cut have not been made: they are part of the answer.
 */
export function finalAnswer({ output, incomplete_details: incomplete }: Response): ModelTurn | undefined {
  const isCut = incomplete !== undefined;
  const last = output.findLastIndex(
    ({ type }) => type === "function_call_output" || (type === "function_call" && !isCut),
  );
  const rest = output.slice(last + 1);
  if (last >= 0 && !isCut && !rest.some(isAnswer)) return undefined;
  return modelTurn({ output: rest, incomplete_details: incomplete });
}

function isAnswer({ type, role }: Response["output"][number]): boolean {
  return (type === "message" || type === undefined) && (role === undefined || role === "assistant");
}

function reasonOf(incomplete: Response["incomplete_details"]): Action["finishReason"] {
  return incomplete === undefined ? "stop" : "length";
}

function callOf({ name = "", arguments: given = "" }: Response["output"][number], id: string): Part {
  // Models leave the arguments of a tool without parameters out.
  const written = given.trim() === "" ? "{}" : given;
  try {
    const parsed = toolArguments.parse(parseStrictJson(written));
    return { type: "tool-call", id, name, arguments: parsed as JsonObject };
  } catch {
    const error = `The arguments of the call of ${JSON.stringify(name)} are no JSON object.`;
    return { type: "malformed-call", text: `${name}(${written})`, format: "responses", error, offset: name.length + 1 };
  }
}
