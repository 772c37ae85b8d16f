import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { optimizerOptions, optimizerRules, withOptionRules } from "../src/learning.ts";

const schema = withOptionRules(
  z.strictObject({
    kind: z.enum(["plain", "clipped"]).default("plain"),
    bound: z.number().default(0.2),
    extra: z.string().optional(),
    ...optimizerOptions,
    learning_rate: z.number().default(1e-3),
  }),
  (options) => [
    {
      when: options.kind !== "clipped",
      options: ["bound", "extra"],
      because: `has no effect with kind: ${options.kind}`,
    },
    ...optimizerRules(options),
  ],
);
const problems = (value: object): [PropertyKey | undefined, string][] | undefined =>
  schema.safeParse(value).error?.issues.map(({ path, message }) => [path[0], message]);

describe("rules of options", () => {
  test("what was set and has no effect is named with why; what is at its default is not", () => {
    expect(problems({ bound: 0.3, extra: "x" })).toEqual([
      ["bound", "has no effect with kind: plain"],
      ["extra", "has no effect with kind: plain"],
    ]);
    expect(problems({ kind: "clipped", bound: 0.3, extra: "x" })).toBeUndefined();
    expect([problems({ bound: 0.2 }), problems({})]).toEqual([undefined, undefined]);
  });

  test("a floor that the learning rate never falls to, or would rise to", () => {
    expect(problems({ lr_floor: 1e-4 })).toEqual([["lr_floor", expect.stringContaining("never falls")]]);
    expect(problems({ lr_floor: 1e-2, lr_schedule: "cosine" })).toEqual([
      ["lr_floor", expect.stringContaining("would rise")],
    ]);
    expect(problems({ lr_floor: 1e-4, lr_schedule: "cosine" })).toBeUndefined();
  });
});
