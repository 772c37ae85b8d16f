import { type Action, type Message, MrlmError, type Observation, type PolicyId, type ToolDefinition } from "@mrlm/spec";
import type { Player } from "@mrlm/spec/host";
import type { Seat } from "./seat.ts";
import { TYPED_ANSWERS, typedAnswer } from "./typed-answer.ts";

/** Name of the person in records. */
export const PERSON = "person";

/**
 * Returns the player of a person, whose messages are recorded as those of a policy.
 * @param onLeave called when the person leaves; the episode under way is then to be given up
 */
export function personPlayer(seat: Seat, policy: PolicyId, onLeave: () => void): Player {
  return {
    kind: "scripted",
    name: PERSON,
    isOutside: true,
    recordedAs: policy,
    open: async () => {
      let tools: readonly ToolDefinition[] = [];
      let calls = 0;
      return {
        async act(observation, { signal }): Promise<Action> {
          tools = observation.tools ?? tools;
          const { agent } = observation;
          const message = await answerTo(seat, observation, tools, `call-${calls++}`, signal);
          if (message !== undefined) return { agent, message, finishReason: "stop" };
          onLeave();
          throw new MrlmError("CANCELLED", "The person has left.");
        },
      };
    },
  };
}

/** Asks until there is an answer; `undefined` where the person leaves. */
async function answerTo(
  seat: Seat,
  observation: Observation,
  tools: readonly ToolDefinition[],
  id: string,
  signal: AbortSignal,
): Promise<Message | undefined> {
  seat.observe(observation);
  for (;;) {
    const text = await seat.ask("your answer (/help)", { signal });
    if (text === undefined || text.trim() === "/quit") return undefined;
    if (text.trim() === "/help") {
      seat.show(`${TYPED_ANSWERS} ${seat.help}`);
      continue;
    }
    const answer = typedAnswer(text, tools, id);
    if ("message" in answer) return answer.message;
    seat.show(`Not sent: ${answer.fault}`);
  }
}
