import { describe, expect, test } from "@jest/globals";
import { type Behaviour, behaviourOf, behaviourFile, compareBehaviour } from "../src/index.ts";
import { behaviourHash, type TranscriptLine } from "../src/plugins/behaviour.ts";

/** Transcript from texts: observation, action, result, action, result, ... */
const transcript = (...texts: string[]): TranscriptLine[] =>
  texts.map((text, i) => ({ kind: i % 2 === 0 ? "returned" : "action", text }));

const of = (fixtures: Readonly<Record<string, readonly string[]>>, id = "nim@1"): Behaviour["environments"] => ({
  [id]: {
    fixtures: Object.fromEntries(
      Object.entries(fixtures).map(([name, texts]) => [name, behaviourOf(transcript(...texts))]),
    ),
  },
});

describe("behaviour of fixtures", () => {
  test("a file is read as it was written", () => {
    const environments = { ...of({ win: ["a", "b", "c"], lose: ["a"] }), ...of({ nop: ["x"] }, "nim@2") };
    const text = behaviourFile.format(environments);
    expect(behaviourFile.parse(text, "file").environments).toEqual(environments);
    expect(behaviourFile.format(behaviourFile.parse(text, "file").environments)).toBe(text);
    expect(JSON.parse(behaviourFile.format({}))).toEqual({ format: 1, environments: {} });
  });

  test.each([
    ["changed", 1, ["z", "b", "c"]],
    ["action", 2, ["a", "z", "c"]],
    ["changed", 3, ["a", "b", "z"]],
    ["changed", 4, ["a", "b", "c", "d", "e"]],
    ["changed", 2, ["a"]],
  ] as const)("a difference is %s in line %i", (kind, line, now) => {
    expect(compareBehaviour(of({ win: ["a", "b", "c"] }), of({ win: now }))).toMatchObject([
      { environment: "nim@1", fixture: "win", kind, line },
    ]);
  });

  test("added and removed fixtures are no changes, and another version is not compared", () => {
    const before = of({ win: ["a"], old: ["b"] });
    expect(compareBehaviour(before, of({ win: ["a"], new: ["b"] })).map(({ description }) => description)).toEqual([
      'fixture "old" of nim@1 is recorded and no longer exists',
      'fixture "new" of nim@1 is not recorded',
    ]);
    expect(compareBehaviour(before, of({ win: ["z"] }, "nim@2"))).toEqual([]);
  });

  test("the hash of an environment follows from its fixtures", () => {
    const hash = (fixtures: Readonly<Record<string, readonly string[]>>) =>
      behaviourHash({ format: 1, environments: of(fixtures) }, "nim@1");
    expect(hash({ win: ["a"], nop: ["b"] })).toBe(hash({ nop: ["b"], win: ["a"] }));
    expect(hash({ win: ["a"], nop: ["b"] })).not.toBe(hash({ win: ["a"], nop: ["c"] }));
    expect(behaviourHash(undefined, "nim@1")).toBeUndefined();
  });

  test("a malformed file is named", () => {
    expect(() => behaviourFile.parse("{", "p/mrlm.behaviour.json")).toThrow("p/mrlm.behaviour.json is not JSON.");
    expect(() => behaviourFile.parse('{"format":2,"environments":{}}', "p")).toThrow(/^p is malformed: format: /);
  });
});
