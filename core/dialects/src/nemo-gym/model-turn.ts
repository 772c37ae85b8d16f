import { ApiError, outputParts } from "@mrlm/kit/gateway";
import { HttpError } from "@mrlm/kit/http";
import { type Action, type Message, MrlmError, type Part } from "@mrlm/spec";
import type { Response } from "./requests.ts";

/** Action of a model, and the reason for its end. */
export interface ModelTurn {
  readonly message: Message;
  readonly finishReason: Action["finishReason"];
  /** Ids of the malformed calls. */
  readonly malformedIds: readonly string[];
}

/**
 * Returns the action of one response: its reasoning, its texts and its calls. A call whose arguments are no JSON object is malformed, which the environment reports to the model.
 * Throws MESSAGE_INVALID with status 422 for an answer that is no text.
 */
export function modelTurn({ output, incomplete_details: incomplete }: Response): ModelTurn {
  const malformedIds: string[] = [];
  const parts = output.flatMap((item, index): Part[] => {
    if (item.type !== "reasoning" && item.type !== "function_call" && !isAnswer(item)) return [];
    const id = item.call_id || `call_${index}`;
    try {
      const { role = "assistant", content } = item;
      return outputParts({ ...item, role, content: content ?? "", call_id: id }, `response.output.${index}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (item.type !== "function_call") throw new HttpError(422, new MrlmError("MESSAGE_INVALID", error.message));
      malformedIds.push(id);
      return [malformed(item)];
    }
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

function malformed({ name = "", arguments: given = "" }: Response["output"][number]): Part {
  const error = `The arguments of the call of ${JSON.stringify(name)} are no JSON object.`;
  return { type: "malformed-call", text: `${name}(${given})`, format: "responses", error, offset: name.length + 1 };
}
