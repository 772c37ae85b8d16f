import { describe, expect } from "@jest/globals";
import fc from "fast-check";
import { answerIn } from "../src/reasoning.ts";
import { faulty, textOf } from "./support/play.ts";
import { pythonTest as test } from "./support/python.ts";

/** Acts in a new episode. Returns the action that the environment received; `undefined`: it could not be read, and the episode has ended with the least reward. */
async function actionOf(space: string, text: string): Promise<string | undefined> {
  const begin = await faulty("Echo", { kwargs: { space }, reward_range: [-2, 1] });
  const result = await (await begin()).act(text);
  if (result.rewards["agent"]?.scored === true && result.rewards["agent"].value === 1) return textOf(result);
  expect(result).toMatchObject({
    rewards: { agent: { scored: true, value: -2, components: { unreadable: 1 } } },
    terminated: { agent: true },
    info: { unreadable: expect.any(String) },
  });
  return undefined;
}

describe("an action", () => {
  test.each([
    ["discrete", "2", "2"],
    ["discrete", " -2\n", "-2"],
    ["discrete", "I go <action>1</action>, not <action>0</action>.", "0"],
    ["discrete", "Not <action>1, but <action>0</action>.", "0"],
    ["discrete", "3", undefined],
    ["discrete", "1.0", undefined],
    ["discrete", "go 1", undefined],
    ["discrete", "١", undefined],
    ["discrete", "9".repeat(5_000), undefined],
    ["discrete", "", undefined],
    ["tuple", "[2, 1]", "(2, 1)"],
    ["tuple", "[2, true]", undefined],
    ["tuple", "[2]", undefined],
    ["tuple", "[".repeat(100_000), undefined],
    ["dict", '{"x": 0, "y": [1]}', "{'x': 0, 'y': (1,)}"],
    ["dict", '{"x": 0}', undefined],
    ["dict", '{"x": 0, "y": [1], "z": 0}', undefined],
  ])("of the space %s in %p", async (space, text, expected) => {
    expect(await actionOf(space, text)).toBe(expected);
  });

  test("is read from any text, or refused", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.integer({ min: -9, max: 9 }).map(String)),
        async (text) => {
          const read = await actionOf("discrete", text);
          const number = Number(text.trim());
          if (read !== undefined) expect(number).toBe(Number(read));
          if (/^-?\d$/.test(text)) expect(read !== undefined).toBe(number >= -2 && number <= 2);
        },
      ),
      { numRuns: 60 },
    );
  });
});

test("texts pass through the protocol as they are", async () => {
  const begin = await faulty("Faulty", { kwargs: { case: "echo" }, max_turns: 10_000 });
  const episode = await begin();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (text) => {
      expect(textOf(await episode.act(`echo ${text}`))).toBe(text);
    }),
    { numRuns: 100 },
  );
  const long = "line\u2028\r\n\u{1f600} ".repeat(10_000);
  expect(textOf(await episode.act(`echo ${long}`))).toBe(long);
});

test("an answer is the text between the last pair of tags", () => {
  expect(answerIn("<answer>1</answer> no, <answer>\n2 </answer>.", "answer")).toBe("2");
  for (const text of ["2", "<answer>2", "2</answer>", "</answer>2<answer>"])
    expect(answerIn(text, "answer")).toBeUndefined();
  expect(answerIn(" 2\n", "")).toBe("2");
});
