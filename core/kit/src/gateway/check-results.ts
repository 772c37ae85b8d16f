import type { Message } from "@mrlm/spec";
import { ApiError, invalidParameter } from "./api-error.ts";

interface GivenMessage {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[] | null | undefined;
  readonly tool_call_id?: string | null | undefined;
  /** Position in the request, where a message of it is several here. */
  readonly index?: number;
}

const CHAT = { list: "messages", calls: "tool_calls", result: "tool_call_id" } as const;

/**
 * Checks that each call of a tool has one result, in the messages that follow directly. A template without ids would show a result as that of another call.
 * Throws ApiError with status 400.
 * @param names of the members of a request, for the messages
 */
export function checkResults(
  messages: readonly GivenMessage[],
  names: Readonly<Record<"list" | "calls" | "result", string>> = CHAT,
): void {
  /** Calls of the last message of the policy, by id, with whether their results have come. */
  let calls = new Map<string, boolean>();
  let caller = -1;
  const checkComplete = (): void => {
    const missing = [...calls].filter(([, hasResult]) => !hasResult).map(([id]) => quoted(id));
    if (missing.length > 0)
      throw invalidParameter(
        `${names.list}.${caller}.${names.calls}`,
        `Message ${caller} has calls without a result: ${missing.slice(0, 10).join(", ")}. A result with each '${names.result}' must follow directly.`,
      );
  };
  for (const [at, { role, tool_calls: made, tool_call_id: result, index: i = at }] of messages.entries()) {
    const invalidResult = (fault: string): ApiError =>
      invalidParameter(`${names.list}.${i}.${names.result}`, `Message ${i} ${fault}.`);
    if (role === "tool") {
      const id = result ?? "";
      const hasResult = calls.get(id);
      if (hasResult === undefined)
        throw invalidResult(`is a result of ${quoted(id)}, which is no call of the message of the assistant before it`);
      if (hasResult) throw invalidResult(`is a second result of the call ${quoted(id)}`);
      calls.set(id, true);
      continue;
    }
    checkComplete();
    calls = new Map((made ?? []).map((call) => [call.id, false]));
    caller = i;
    if (calls.size < (made ?? []).length)
      throw invalidParameter(`${names.list}.${i}.${names.calls}`, `Message ${i} has two calls with the same id.`);
  }
  checkComplete();
}

/**
 * Throws ApiError for a history that ends with the assistant: a policy begins its answers.
 * @param param place of the last message in the request
 */
export function assertNoPrefill(messages: readonly Message[], param: string): void {
  if (messages.at(-1)?.role !== "assistant") return;
  throw new ApiError(400, "unsupported_value", "The last message is of the assistant. An answer is not continued.", {
    param,
  });
}

function quoted(id: string): string {
  return `'${id.slice(0, 100)}'`;
}
