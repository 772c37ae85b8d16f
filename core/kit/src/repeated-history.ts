import type { Message } from "@mrlm/spec";

/**
 * Describes how an observation repeats an agent's history; `undefined` where it does not. `Observation.messages` holds only what is new: an
 * environment that returns the whole conversation, as chat APIs do, puts every earlier turn into the context twice.
 *
 * @param first messages of the agent's first observation in the episode
 * @param later messages of a later observation of the same agent
 */
export function repeatedHistory(first: readonly Message[], later: readonly Message[]): string | undefined {
  if (later.some(({ role }) => role === "assistant"))
    return "it holds a message of the role assistant, which the agent itself has written";
  const isRepeated =
    first.length > 0 &&
    later.length > first.length &&
    first.every((message, i) => JSON.stringify(message) === JSON.stringify(later[i]));
  return isRepeated ? "it begins with the messages of the first observation" : undefined;
}
