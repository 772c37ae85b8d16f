import { expect, test } from "@jest/globals";
import { joined, meets, readRewards, rewardOf } from "../src/grade/reward.ts";

const bytes = (text: string | undefined): Uint8Array | undefined =>
  text === undefined ? undefined : new TextEncoder().encode(text);
const read = (text?: string, json?: string) => readRewards({ text: bytes(text), json: bytes(json) });

test.each([
  ["1\n", undefined, 1],
  [" -.5e1 ", undefined, -5],
  ["0", '{"reward": 0.25, "style": 1}', 0.25],
  [undefined, '{"passed": true}', 1],
])("%j and %j are the reward %d", (text, json, value) => {
  expect(rewardOf(read(text, json))).toMatchObject({ scored: true, value });
});

test.each([
  [undefined, undefined, "neither reward.txt nor reward.json"],
  ["", undefined, "reward.txt is no finite number"],
  ["1 2", undefined, "reward.txt is no finite number"],
  ["nan", undefined, "reward.txt is no finite number"],
  ["1e999", undefined, "reward.txt is no finite number"],
  ["0x1", undefined, "reward.txt is no finite number"],
  ["1", "", "reward.json is not JSON"],
  ["1", "NaN", "reward.json is not JSON"],
  ["1", "1", "reward.json is no object"],
  ["1", '{"reward": "1"}', "a value of reward.json is no finite number"],
  ["1", '{"reward": 1e999}', "a value of reward.json is no finite number"],
  ["1", '{"a": 1, "b": 0}', "several rewards"],
  ["1", "{}", "several rewards"],
])("%j and %j are unscored: %s", (text, json, reason) => {
  expect(rewardOf(read(text, json))).toMatchObject({
    scored: false,
    code: "SCORER_FAILED",
    message: expect.stringContaining(reason),
  });
});

test("rewards of steps are joined by name, and a step that failed leaves none", () => {
  expect(joined([{ reward: 1, a: 1 }, { reward: 0 }], "mean")).toEqual({ reward: 0.5, a: 0.5 });
  expect(joined([{ reward: 1 }, { b: 0.5 }], "final")).toEqual({ b: 0.5 });
  expect(joined([{ reward: 1 }, "it failed"], "final")).toBe("it failed");
});

test("a threshold is that of `reward`, or by name", () => {
  expect([
    meets({ reward: 1 }, undefined),
    meets({ reward: 1 }, 1),
    meets({ reward: 0.9 }, 1),
    meets({ a: 1 }, 0),
  ]).toEqual([true, true, false, false]);
  expect([meets({ a: 1, b: 0 }, { a: 1 }), meets({ a: 1 }, { a: 1, b: 0 })]).toEqual([true, false]);
});
