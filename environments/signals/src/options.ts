import { z } from "zod";

/** Number of letters, each of which is a symbol. */
export const LETTERS = 26;

const meanings = z.int().min(2).max(99).default(6).describe("Number of meanings");
const symbols = z.int().min(1).max(LETTERS).default(6).describe("Number of symbols");

export const signalsOptions = z.strictObject({
  meanings,
  symbols: symbols.describe("Number of symbols: the first letters of the alphabet"),
  sender_reward: z
    .enum(["shared", "none"])
    .default("shared")
    .describe("Reward of the sender: that of the receiver, or always 0, so that it learns nothing"),
  style: z
    .enum(["words", "terse"])
    .default("words")
    .describe("Question: a sentence with the rules, or the meaning or the symbol alone, for small models"),
});

export type SignalsOptions = z.output<typeof signalsOptions>;

/** Options of the scripted policies, which cannot read the numbers from a question of the style `terse`. */
export const scriptOptions = z.strictObject({ meanings, symbols });
