import type { Message } from "@mrlm/spec";

/**
 * Describes how an observation repeats the history of an agent; returns `undefined` if it does not. `Observation.messages` contains new messages only: an
 * environment that returns the whole conversation, as chat APIs do, puts every earlier turn into the context twice.
 *
 * @param first messages of the first observation of the agent in the episode
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
