import { messageText, type PolicySource, randomStream, textMessage } from "@mrlm/kit";
import { z } from "zod";

/** Options of the player, under `players` of a configuration: `{ scripted: my-policy@1, options: { noise: 0.1 } }`. */
export const options = z.strictObject({
  noise: z.number().min(0).max(1).default(0).describe("Chance that a letter is replaced by another one"),
});
type Options = z.output<typeof options>;

const LETTERS = [..."abcdefgh"];

/** Returns a player that writes backwards what it reads, with some letters replaced. It plays a role in any environment. */
export function reverser(): PolicySource<Options> {
  return {
    options,
    // The policy of one agent in one episode. Its choices follow from its observations and the seed alone.
    open({ seed, agent }, { noise }) {
      const random = randomStream("reverser", seed);
      const replaced = (letter: string): string => (random.next() < noise ? random.pick(LETTERS) : letter);
      return {
        async act({ messages }) {
          const last = messages.at(-1);
          const text = last === undefined ? "" : messageText(last);
          return {
            agent,
            message: textMessage("assistant", [...text].toReversed().map(replaced).join("")),
            finishReason: "stop",
          };
        },
      };
    },
  };
}
