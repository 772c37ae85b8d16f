import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { definePlugin, observe, singleStep, textMessage } from "@mrlm/kit";
import type { Action } from "@mrlm/spec";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { actionCodec, environmentProto as wire } from "@mrlm/wire";
import { isFullyChecked } from "../src/host/session.ts";
import { validateBySchema } from "../src/host/validate-result.ts";
import { counterEnvironment, never } from "./support/counter-environment.ts";

// Messages of the wire, well-formed or not: the host does not check the form of most actions that the decoder has accepted.
const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight: 20 }, { arbitrary: odd, weight: 1 });
const text = fc.string({ unit: "binary", maxLength: 5 });
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}{}${"}".repeat(depth)}`;
const json = mostly(
  fc.dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }).map((value) => JSON.stringify(value)),
  fc.constantFrom("", "[]", "1", "null", '{"a":1e999}', '{"__proto__":[]}', nested(998), nested(999), nested(1_000)),
);
const content: fc.Arbitrary<wire.Part> = fc.oneof(
  fc.record({ part: fc.record({ $case: fc.constant("text" as const), text: fc.record({ text }) }) }),
  fc.record({
    part: fc.record({
      $case: fc.constant("image" as const),
      image: fc.record({
        mediaType: text,
        source: fc.oneof(
          fc.record({ $case: fc.constant("data" as const), data: fc.uint8Array({ maxLength: 4 }) }),
          fc.record({ $case: fc.constant("url" as const), url: text }),
        ),
      }),
    }),
  }),
);
const part: fc.Arbitrary<wire.Part> = fc.oneof(
  content,
  fc.record({ part: fc.record({ $case: fc.constant("thinking" as const), thinking: fc.record({ text }) }) }),
  fc.record({
    part: fc.record({
      $case: fc.constant("toolCall" as const),
      toolCall: fc.record({ id: text, name: text, argumentsJson: json }),
    }),
  }),
  fc.record({
    part: fc.record({
      $case: fc.constant("malformedCall" as const),
      malformedCall: fc.record({ text, format: text, error: text, offset: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
    }),
  }),
  fc.record({
    part: fc.record({
      $case: fc.constant("toolResult" as const),
      toolResult: fc.record({
        id: text,
        name: text,
        parts: fc.array(content, { maxLength: 2 }),
        isError: fc.boolean(),
      }),
    }),
  }),
  fc.constant({ part: undefined }),
);
const action = fc.record({
  agent: text,
  message: fc.record({
    role: mostly(fc.constant("assistant"), fc.constantFrom("user", "", "robot")),
    name: text,
    parts: fc.array(mostly(part, fc.constant({ part: undefined })), { maxLength: 3 }),
  }),
  finishReason: mostly(fc.constantFrom<number>(0, 1, 2, 3), fc.constantFrom<number>(4, 99)),
});

test("an action whose form is not checked after its decoding is what the schema makes of it", () => {
  let accepted = 0;
  fc.assert(
    fc.property(action, (given) => {
      let decoded: Action;
      try {
        decoded = actionCodec.decode(wire.Action.decode(wire.Action.encode(given as wire.Action).finish()));
      } catch {
        return;
      }
      if (!isFullyChecked(decoded)) return;
      accepted++;
      const bySchema = validateBySchema<Action>("action", decoded);
      expect(bySchema).toStrictEqual({ value: decoded });
      expect(JSON.stringify("value" in bySchema && bySchema.value)).toBe(JSON.stringify(decoded));
    }),
    { numRuns: 1_000 },
  );
  expect(accepted).toBeGreaterThan(100);
});

test("a host refuses a decoded action of another role, and one with an infinite argument; one in process is checked whole", async () => {
  const given: unknown[] = [];
  const environment = {
    reset: async () => observe([]),
    step: async (each: Action) => {
      given.push(each);
      return singleStep({ terminated: false });
    },
  };
  const definition = counterEnvironment({ tasks: undefined, create: () => environment });
  const source = await PluginHost.of([definePlugin({ name: "test", environments: [definition] })]);
  const session = await new LocalHost({ source }).open({ id: "counter" });
  await session.reset({ signal: never });
  const call = { type: "tool-call" as const, id: "1", name: "add", arguments: { a: Infinity } };
  const sound: Action = { agent: "agent", message: textMessage("assistant", "x"), finishReason: "stop" };
  const step = (each: object, isDecoded: boolean) =>
    session.step({ ...sound, ...each }, { signal: never, isDecoded }).catch(({ message }: Error) => message);
  expect(await step({ message: textMessage("user", "x") }, true)).toMatch(/is malformed: message\.role: /);
  expect(await step({ message: { role: "assistant", parts: [call] } }, true)).toMatch(
    /malformed: message\.parts\.0\.arg/,
  );
  expect(await step({ message: "x" }, false)).toMatch(/is malformed: message: /);
  expect(given).toEqual([]);
  await step({}, true);
  await step({ extra: 1 }, false);
  expect(given).toEqual([sound, sound]);
});
