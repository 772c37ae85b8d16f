import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { MAX_REWARD } from "@mrlm/spec/host";
import { quickObservation, quickStepResult, validateBySchema } from "../src/host/validate-result.ts";

// Values near the contract: mostly well-formed, with missing, unknown and wrong members.
const odd = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, 0, Number.NaN, "", "text", true, [], {}, [null]),
  fc.constant(new Uint8Array(2)),
);
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: usual, weight: 400 }, { arbitrary: odd, weight: 1 });
const object = (members: Record<string, fc.Arbitrary<unknown>>, optional: readonly string[] = []) => {
  const all: Record<string, fc.Arbitrary<unknown>> = { ...members, extra: fc.constant("unknown member") };
  return fc.record(all, { requiredKeys: Object.keys(members).filter((key) => !optional.includes(key)) });
};
const text = mostly(fc.string({ maxLength: 3 }));
const json = mostly(
  fc.dictionary(fc.string({ maxLength: 2 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2, noNullPrototype: true }),
);
const part = object(
  { type: fc.constantFrom(..."text ".repeat(12).trim().split(" "), "thinking", "image"), text, id: text },
  ["id"],
);
const message = object(
  {
    role: mostly(fc.constantFrom("assistant", "user", "system", "tool")),
    name: text,
    parts: mostly(fc.array(part, { maxLength: 2 })),
  },
  ["name"],
);
const names = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz", "mean", "std", "__proto__");
const record = (member: fc.Arbitrary<unknown>) =>
  mostly(fc.dictionary(names, member, { maxKeys: 2, noNullPrototype: true }));
const observation = object(
  {
    agent: text,
    messages: mostly(fc.array(message, { maxLength: 2 })),
    isFresh: mostly(fc.boolean()),
    maxTokens: mostly(fc.integer({ min: 1 })),
    tools: mostly(fc.constant([])),
    info: json,
  },
  ["isFresh", "maxTokens", "tools", "info"],
);
const reward = object(
  {
    scored: mostly(fc.constant(true)),
    value: mostly(fc.double({ min: -MAX_REWARD, max: MAX_REWARD, noNaN: true })),
    components: record(mostly(fc.double({ min: -MAX_REWARD, max: MAX_REWARD, noNaN: true }))),
    code: text,
    message: text,
  },
  ["code", "message"],
);
const stepResult = object(
  {
    observation,
    rewards: record(reward),
    terminated: record(mostly(fc.boolean())),
    truncated: record(mostly(fc.boolean())),
    info: json,
  },
  ["info"],
);
test.each([
  ["observation", quickObservation, observation],
  ["stepResult", quickStepResult, stepResult],
] as const)("a quick copy of %s is that of the schema, with its members in the same order", (what, copy, values) => {
  let copied = 0;
  fc.assert(
    fc.property(values, (value) => {
      const quick = copy(value);
      if (quick === undefined) return;
      copied++;
      const bySchema = validateBySchema(what, value);
      expect(bySchema).toStrictEqual({ value: quick });
      expect(JSON.stringify(quick)).toBe(JSON.stringify("value" in bySchema ? bySchema.value : undefined));
    }),
    { numRuns: 600 },
  );
  expect(copied).toBeGreaterThan(50);
});
