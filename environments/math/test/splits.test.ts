import { expect, test } from "@jest/globals";
import { FAMILY_NAMES } from "../src/families/index.ts";
import { mathOptions } from "../src/options.ts";
import { taskKey } from "../src/task-key.ts";
import { mathTasks } from "../src/tasks.ts";

test.each([
  ["7+3", "3+7"],
  ["1+2-5", "1-5+2"],
  ["(1+2)*5", "5*(2+1)"],
  ["3*4+5", "5+4*3"],
  ["1+(2-3)", "2+1-3"],
  ["9-(2*3)", "9-3*2"],
  ["2x+1=5", "5=2x+1"],
  ["x+y=3;x-y=1", "x-y=1;x+y=3"],
  ["2x<=5", "5>=2x"],
  ["gcd(4,6)", "gcd(6,4)"],
])("D7: %s and %s are one problem", (one, other) => {
  expect(taskKey(one)).toBe(taskKey(other));
});

test.each([
  ["7-3", "3-7"],
  ["8/2", "2/8"],
  ["9-(2+3)", "9-2+3"],
  ["(1+2)*5", "1+2*5"],
  ["x<5", "x>5"],
  ["x<5", "x<=5"],
  ["5;+3;*2", "5;*2;+3"],
  ["sort 12", "sort 21"],
  ["7%3", "3%7"],
])("D7: %s and %s are two problems", (one, other) => {
  expect(taskKey(one)).not.toBe(taskKey(other));
});

test("D7: no question of eval stands in train, also with its operands in another order", async () => {
  for (const difficulty of [1, 3, 10]) {
    const tasks = mathTasks(
      mathOptions.parse({ families: [...FAMILY_NAMES], style: "terse", difficulty_range: difficulty }),
    );
    const keys = async (split: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, i) => taskKey(String((await tasks.get(split, i)).public["question"]))),
      );
    const train = new Set(await keys("train", 4_000));
    expect((await keys("eval", 500)).filter((key) => train.has(key))).toEqual([]);
  }
});
