import { type EnvironmentContext, messageText, MrlmError, type Observation, type Policy, textMessage } from "@mrlm/kit";
import { optimalMove, randomMove } from "./rules.ts";

/** Policies of the game: a uniformly random legal move, and the theory. */
export const scriptedPolicies = {
  random: (context: EnvironmentContext, options: unknown, seed: number): Policy => {
    assertNone(options);
    const random = context.random("nim/random", seed);
    return player((pile) => randomMove(pile, random));
  },
  optimal: (_context: EnvironmentContext, options: unknown): Policy => {
    assertNone(options);
    return player(optimalMove);
  },
};

function player(move: (pile: number) => number): Policy {
  return {
    act: async ({ agent, messages }: Observation) => ({
      agent,
      message: textMessage("assistant", String(move(pileOf(messages)))),
      finishReason: "stop",
    }),
  };
}

/** Returns the pile of a question: the first number, in either style. */
function pileOf(messages: Observation["messages"]): number {
  const [message] = messages;
  return Number(message === undefined ? Number.NaN : /\d+/.exec(messageText(message))?.[0]);
}

function assertNone(options: unknown): void {
  if (Object.keys(options ?? {}).length > 0)
    throw new MrlmError("OPTIONS_INVALID", "The scripted policies of nim@1 have no options.");
}
