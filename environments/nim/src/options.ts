import { z } from "zod";

export const nimOptions = z.strictObject({
  style: z
    .enum(["words", "terse"])
    .default("words")
    .describe("Question: a sentence with the rules, or the number of objects alone, for small models"),
});

export type NimOptions = z.output<typeof nimOptions>;
