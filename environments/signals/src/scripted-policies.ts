import { type EnvironmentContext, messageText, MrlmError, type Observation, type Policy, textMessage } from "@mrlm/kit";
import { symbolAt, symbolOf } from "./code.ts";
import { LETTERS, scriptOptions } from "./options.ts";

/** Policies of the game: uniformly random valid messages, and the code in which the first symbol stands for meaning 1, the second for 2, and so on. */
export const scriptedPolicies = {
  random: (context: EnvironmentContext, options: unknown, seed: number): Policy => {
    const { meanings, symbols } = numbersOf(options);
    const random = context.random("signals/random", seed);
    return player({
      send: () => random.integer(0, symbols - 1),
      read: () => random.integer(1, meanings),
    });
  },
  /** Correct for as many meanings as there are symbols, which is the most that any code reaches. */
  optimal: (_context: EnvironmentContext, options: unknown): Policy => {
    const { meanings, symbols } = numbersOf(options);
    return player({
      send: (meaning) => Math.min(meaning, symbols) - 1,
      read: (index = 0) => Math.min(index + 1, meanings),
    });
  },
};

interface Strategy {
  send(meaning: number): number;
  /** @param index of the symbol; `undefined` if the sender has sent none */
  read(index: number | undefined): number;
}

function player({ send, read }: Strategy): Policy {
  return {
    act: async ({ agent, messages }: Observation) => {
      const question = messages[0] === undefined ? "" : messageText(messages[0]);
      const text =
        agent === "sender"
          ? symbolAt(send(Number(/\d+/.exec(question)?.[0])))
          : String(read(symbolOf(/\b[a-z](?=\.|$)/.exec(question)?.[0] ?? "", LETTERS)));
      return { agent, message: textMessage("assistant", text), finishReason: "stop" };
    },
  };
}

function numbersOf(options: unknown): { readonly meanings: number; readonly symbols: number } {
  const { success, data } = scriptOptions.safeParse(options ?? {});
  if (!success)
    throw new MrlmError(
      "OPTIONS_INVALID",
      "The scripted policies of signals@1 have the options meanings, from 2 to 99, and symbols, from 1 to 26.",
      { hint: "State the same numbers as in the options of the environment." },
    );
  return data;
}
