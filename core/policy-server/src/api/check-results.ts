import { type ApiError, invalidParameter } from "./api-error.ts";

interface GivenMessage {
  readonly role: string;
  readonly tool_calls?: readonly { readonly id: string }[] | null | undefined;
  readonly tool_call_id?: string | null | undefined;
}

/**
 * Checks that each call of a tool has one result, in the messages that follow directly. A template without ids would show a result as that of another call.
 * Throws ApiError with status 400.
 */
export function checkResults(messages: readonly GivenMessage[]): void {
  /** Calls of the last message of the policy, by id, with whether their results have come. */
  let calls = new Map<string, boolean>();
  let caller = -1;
  const checkComplete = (): void => {
    const missing = [...calls].filter(([, hasResult]) => !hasResult).map(([id]) => quoted(id));
    if (missing.length > 0)
      throw invalidParameter(
        `messages.${caller}.tool_calls`,
        `Message ${caller} has calls without a result: ${missing.slice(0, 10).join(", ")}. A message of the role 'tool' with each 'tool_call_id' must follow directly.`,
      );
  };
  for (const [i, { role, tool_calls: made, tool_call_id: result }] of messages.entries()) {
    if (role === "tool") {
      const id = result ?? "";
      const hasResult = calls.get(id);
      if (hasResult === undefined)
        throw invalidResult(
          i,
          `is a result of ${quoted(id)}, which is no call of the message of the assistant before it`,
        );
      if (hasResult) throw invalidResult(i, `is a second result of the call ${quoted(id)}`);
      calls.set(id, true);
      continue;
    }
    checkComplete();
    calls = new Map((made ?? []).map((call) => [call.id, false]));
    caller = i;
    if (calls.size < (made ?? []).length)
      throw invalidParameter(`messages.${i}.tool_calls`, `Message ${i} has two calls with the same id.`);
  }
  checkComplete();
}

function invalidResult(i: number, fault: string): ApiError {
  return invalidParameter(`messages.${i}.tool_call_id`, `Message ${i} ${fault}.`);
}

function quoted(id: string): string {
  return `'${id.slice(0, 100)}'`;
}
