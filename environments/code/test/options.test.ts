import { expect, test } from "@jest/globals";
import { code } from "../src/index.ts";
import { codeOptions } from "../src/options.ts";

test("defaults are for generated problems of every family", () => {
  expect(codeOptions.parse({})).toMatchObject({
    language: "python",
    attempts: 3,
    style: "prose",
    visible_tests: "examples",
    rewards: { all_passed: 0.5, tests: 0.5, syntax: 0, error: 0 },
  });
});

test.each([
  ["python", "sandbox:python"],
  ["typescript", "sandbox:javascript"],
])("%s requires %s and no other", async (language, id) => {
  const requires = code.requires as Exclude<typeof code.requires, readonly string[] | undefined>;
  expect(await requires(undefined as never, codeOptions.parse({ language }))).toEqual([
    { id, asker: `code@2 with language: ${language}` },
  ]);
});

test.each([
  [{ language: "cobol" }, "language"],
  [{ attempts: 0 }, "attempts"],
  [{ families: [] }, "families"],
  [{ families: { strings: 0 } }, "families"],
  [{ difficulty_range: [5, 2] }, "difficulty_range"],
  [{ visible_tests: 1.5 }, "visible_tests"],
  [{ limits: { wall_ms: 1 } }, "limits.wall_ms"],
  [{ rewards: { error: 1 } }, "rewards.error"],
  [{ rewards: { all_passed: 0, tests: 0 } }, "rewards"],
  [{ data: {} }, "data.path"],
  [{ data: { path: "x.jsonl" }, families: ["strings"] }, "families"],
  [{ data: { path: "x.jsonl" }, tests: 5 }, "tests"],
  [{ data: { path: "x.jsonl" }, train_size: 5 }, "train_size"],
  [{ test: 5 }, ""],
])("%j is refused, at %s", (given, at) => {
  const { error } = codeOptions.safeParse(given);
  expect(error?.issues.map(({ path }) => path.join("."))).toContain(at);
});
