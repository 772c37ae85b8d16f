import { describe, expect, test } from "@jest/globals";
import type { Reward, Role } from "@mrlm/spec";
import type { EnvironmentDescription } from "@mrlm/spec/host";
import fc from "fast-check";
import {
  actionCodec,
  demonstrationCodec,
  descriptionCodec,
  environmentRefCodec,
  stepCodec,
  environmentProto as wire,
} from "../src/index.ts";
import { decodeMessage, decodePart } from "../src/environment/messages.ts";
import { rewardCodec } from "../src/environment/turns.ts";

import { action, demonstration, object, stepResult, text } from "./arbitraries.ts";
import { expectSame, throughBytes } from "./through-bytes.ts";

describe("encoding and decoding keeps", () => {
  test("steps: parts, images, tool calls, tools, rewards, ends, info", () => {
    fc.assert(
      fc.property(stepResult, (step) =>
        expectSame(stepCodec.decode(throughBytes(wire.StepResponse, stepCodec.encode(step))), step),
      ),
    );
  });

  test("actions", () => {
    fc.assert(
      fc.property(action, (value) =>
        expectSame(actionCodec.decode(throughBytes(wire.Action, actionCodec.encode(value))), value),
      ),
    );
  });

  test("demonstrations", () => {
    fc.assert(
      fc.property(demonstration, (value) =>
        expectSame(
          demonstrationCodec.decode(throughBytes(wire.Demonstration, demonstrationCodec.encode(value))),
          value,
        ),
      ),
    );
  });

  test("descriptions", () => {
    const role: fc.Arbitrary<Role> = fc.record(
      { description: fc.string({ minLength: 1 }), many: fc.constant(true) },
      { requiredKeys: [] },
    );
    const description: fc.Arbitrary<EnvironmentDescription> = fc.record(
      {
        id: text,
        description: text,
        determinism: fc.constantFrom("full", "replayable", "none"),
        roles: fc.dictionary(text, role, { noNullPrototype: true, minKeys: 1 }),
        optionsJsonSchema: object,
        splits: fc.dictionary(text, fc.maxSafeNat(), { noNullPrototype: true }),
        maxTurns: fc.nat(),
        hasDemonstrations: fc.boolean(),
        rewardComponents: fc.array(text),
        rewardRange: fc.tuple(fc.double({ noNaN: true }), fc.double({ noNaN: true })),
        orderedSplits: fc.array(text),
        dataFiles: fc.dictionary(text, text, { noNullPrototype: true, minKeys: 1 }),
        providedBy: fc.record(
          { name: text, version: text, behaviour: fc.string({ minLength: 1 }) },
          { requiredKeys: ["name", "version"], noNullPrototype: true },
        ),
      },
      {
        requiredKeys: [
          "id",
          "description",
          "determinism",
          "roles",
          "splits",
          "orderedSplits",
          "maxTurns",
          "hasDemonstrations",
          "rewardComponents",
        ],
      },
    );
    fc.assert(
      fc.property(description, (value) =>
        expectSame(
          descriptionCodec.decode(throughBytes(wire.EnvironmentDescription, descriptionCodec.encode(value))),
          value,
        ),
      ),
    );
  });

  test("references to environments", () => {
    const ref = fc.record({ id: fc.string({ minLength: 1 }), options: object }, { requiredKeys: ["id"] });
    fc.assert(
      fc.property(ref, (value) =>
        expectSame(
          environmentRefCodec.decode(throughBytes(wire.EnvironmentRef, environmentRefCodec.encode(value))),
          value,
        ),
      ),
    );
  });
});

test("a server without roles has one agent for each of `agents`, and never receives the finish reason exhausted", () => {
  const described = descriptionCodec.encode({
    id: "pair@1",
    description: "",
    determinism: "full",
    roles: { pro: { description: "Argues for it." }, con: { many: true } },
    splits: {},
    orderedSplits: [],
    maxTurns: 0,
    hasDemonstrations: false,
    rewardComponents: [],
  });
  expect(described.agents).toEqual(["pro", "con"]);
  const old = descriptionCodec.decode({ ...described, roles: [] });
  expect(old).toMatchObject({ roles: { pro: {}, con: {} }, lacksExhausted: true });
  expect(descriptionCodec.encode(old)).toEqual({ ...described, roles: [] });
});

describe("a malformed message is refused", () => {
  const nothing = { parts: [], name: "" };

  test.each([Number.NaN, Number.POSITIVE_INFINITY])("a reward of %s, in both directions", (value) => {
    const reward: Reward = { scored: true, value, components: {} };
    expect(() => rewardCodec.encode(reward)).toThrow(expect.objectContaining({ code: "MESSAGE_INVALID" }));
    expect(() => rewardCodec.encode({ scored: true, value: 0, components: { format: value } })).toThrow(
      /component "format"/,
    );
    expect(() => rewardCodec.decode({ result: { $case: "score", score: { value, components: new Map() } } })).toThrow(
      /not a finite number/,
    );
  });

  test("a reward that is neither scored nor unscored", () => {
    expect(() => rewardCodec.decode({ result: undefined })).toThrow(/neither scored nor unscored/);
  });

  test("an unknown role, part, or JSON that is not an object", () => {
    expect(() => decodeMessage({ ...nothing, role: "robot" })).toThrow(/role "robot"/);
    expect(() => decodePart({ part: undefined })).toThrow(/kind that this version does not know/);
    const call = (argumentsJson: string) =>
      decodePart({ part: { $case: "toolCall", toolCall: { id: "1", name: "f", argumentsJson } } });
    expect(() => call("[]")).toThrow(/must be a JSON object/);
    expect(() => call("{")).toThrow(/must be JSON/);
    expect(() => actionCodec.decode(undefined)).toThrow(/no message/);
    const given = { agent: "a", message: { ...nothing, role: "assistant" } };
    expect(() => actionCodec.decode({ ...given, finishReason: 9 as never })).toThrow(/unknown finish reason 9/);
    expect(actionCodec.decode({ ...given, finishReason: 0 }).finishReason).toBe("stop");
  });
});
