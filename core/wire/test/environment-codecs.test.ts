import { describe, expect, test } from "@jest/globals";
import type { Reward, Role } from "@mrlm/spec";
import type { EnvironmentDescription } from "@mrlm/spec/host";
import fc from "fast-check";
import {
  decodeAction,
  decodeDemonstration,
  decodeDescription,
  decodeEnvironmentRef,
  decodeStep,
  encodeAction,
  encodeDemonstration,
  encodeDescription,
  encodeEnvironmentRef,
  encodeStep,
  environmentProto as wire,
} from "../src/index.ts";
import { decodeMessage, decodePart } from "../src/environment/messages.ts";
import { decodeReward, encodeReward } from "../src/environment/turns.ts";

import { action, demonstration, object, stepResult, text } from "./arbitraries.ts";
import { expectSame, throughBytes } from "./through-bytes.ts";

describe("encoding and decoding keeps", () => {
  test("steps: parts, images, tool calls, tools, rewards, ends, info", () => {
    fc.assert(
      fc.property(stepResult, (step) =>
        expectSame(decodeStep(throughBytes(wire.StepResponse, encodeStep(step))), step),
      ),
    );
  });

  test("actions", () => {
    fc.assert(
      fc.property(action, (value) => expectSame(decodeAction(throughBytes(wire.Action, encodeAction(value))), value)),
    );
  });

  test("demonstrations", () => {
    fc.assert(
      fc.property(demonstration, (value) =>
        expectSame(decodeDemonstration(throughBytes(wire.Demonstration, encodeDemonstration(value))), value),
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
        expectSame(decodeDescription(throughBytes(wire.EnvironmentDescription, encodeDescription(value))), value),
      ),
    );
  });

  test("references to environments", () => {
    const ref = fc.record({ id: fc.string({ minLength: 1 }), options: object }, { requiredKeys: ["id"] });
    fc.assert(
      fc.property(ref, (value) =>
        expectSame(decodeEnvironmentRef(throughBytes(wire.EnvironmentRef, encodeEnvironmentRef(value))), value),
      ),
    );
  });
});

test("a server without roles has one agent for each of `agents`, and never receives the finish reason exhausted", () => {
  const described = encodeDescription({
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
  const old = decodeDescription({ ...described, roles: [] });
  expect(old).toMatchObject({ roles: { pro: {}, con: {} }, lacksExhausted: true });
  expect(encodeDescription(old)).toEqual({ ...described, roles: [] });
});

describe("a malformed message is refused", () => {
  const nothing = { parts: [], name: "" };

  test.each([Number.NaN, Number.POSITIVE_INFINITY])("a reward of %s, in both directions", (value) => {
    const reward: Reward = { scored: true, value, components: {} };
    expect(() => encodeReward(reward)).toThrow(expect.objectContaining({ code: "MESSAGE_INVALID" }));
    expect(() => encodeReward({ scored: true, value: 0, components: { format: value } })).toThrow(/component "format"/);
    expect(() => decodeReward({ result: { $case: "score", score: { value, components: new Map() } } })).toThrow(
      /not a finite number/,
    );
  });

  test("a reward that is neither scored nor unscored", () => {
    expect(() => decodeReward({ result: undefined })).toThrow(/neither scored nor unscored/);
  });

  test("an unknown role, part, or JSON that is not an object", () => {
    expect(() => decodeMessage({ ...nothing, role: "robot" })).toThrow(/role "robot"/);
    expect(() => decodePart({ part: undefined })).toThrow(/kind that this version does not know/);
    const call = (argumentsJson: string) =>
      decodePart({ part: { $case: "toolCall", toolCall: { id: "1", name: "f", argumentsJson } } });
    expect(() => call("[]")).toThrow(/must be a JSON object/);
    expect(() => call("{")).toThrow(/must be JSON/);
    expect(() => decodeAction(undefined)).toThrow(/no message/);
    const given = { agent: "a", message: { ...nothing, role: "assistant" } };
    expect(() => decodeAction({ ...given, finishReason: 9 as never })).toThrow(/unknown finish reason 9/);
    expect(decodeAction({ ...given, finishReason: 0 }).finishReason).toBe("stop");
  });
});
