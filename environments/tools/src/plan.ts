import type { Message } from "@mrlm/kit";
import type { PlannedCall } from "./task.ts";

/** Returns the messages with the calls of a worked solution. Ids have 9 letters and digits, as chat templates require. */
export function plannedMessages(plan: readonly (readonly PlannedCall[])[]): Message[] {
  let number = 0;
  return plan.map((calls) => ({
    role: "assistant",
    parts: calls.map((call) => ({ type: "tool-call", id: `call${String(++number).padStart(5, "0")}`, ...call })),
  }));
}
