import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { Scorer, ScoreRequest } from "@mrlm/kit";
import { type CasesOptions, casesOptions } from "../src/options.ts";
import { readCases } from "../src/read-cases.ts";

const { signal } = new AbortController();
const scorer = () => {
  throw new Error("Equality needs no scorer.");
};

/** Reads the cases of a file with these lines. */
async function read(
  lines: readonly string[],
  { name = "cases.jsonl", ...options }: { readonly name?: string } & Partial<CasesOptions> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-rows-"));
  try {
    const path = join(folder, name);
    writeFileSync(path, lines.join("\n"));
    return (await readCases(path, casesOptions.parse({ ...options, data: { path } }))).cases;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("an answer earns where it is the expected one, white space at its ends left out", async () => {
  const [first, second] = await read([
    '{"input": "2 + 2", "expected": 4, "id": 1}',
    '{"input": [{"role": "user", "content": "Hi"}], "expected": "Hello"}',
  ]);
  const context = { scorer };
  expect(await first?.grade(" 4\n", { context, signal })).toMatchObject({ value: 1 });
  expect(await first?.grade("The answer is 4", { context, signal })).toMatchObject({ value: 0 });
  expect(await second?.grade("hello", { context, signal })).toMatchObject({ value: 0 });
});

test("a scorer receives answer, reference, place and question", async () => {
  const requests: ScoreRequest[] = [];
  const scorer: Scorer = {
    score: async (request) => {
      requests.push(request);
      return { reward: { scored: true, value: 0.5, components: {} }, verdict: "scored", reason: "" };
    },
  };
  const [only] = await read(['{"input": "2 + 2", "expected": 4}'], { scorer: "math@2", schema: "boxed" });
  expect(await only?.grade("four", { context: { scorer: () => scorer }, signal })).toMatchObject({ value: 0.5 });
  expect(requests).toEqual([{ answer: "four", expected: "4", schema: "boxed", question: "2 + 2", signal }]);
});

test.each([
  ["a row without an answer", ['{"input": "a"}'], {}, "DATA_INVALID", "cases.jsonl:1: expected: "],
  [
    "a row without an input",
    ['{"input": "a", "expected": "b"}', '{"expected": "b"}'],
    {},
    "DATA_INVALID",
    "cases.jsonl:2: the input is neither",
  ],
  ["a line that is not JSON", ["input: a"], {}, "DATA_INVALID", "cases.jsonl:1: the line is not JSON"],
  ["an empty file", [""], {}, "DATA_INVALID", "has no rows"],
  ["another kind of file", ["a,b"], { name: "cases.csv" }, "DATA_INVALID", "cases.csv is none of the files with cases"],
  [
    "a scorer beside a file with its own",
    ["prompts: [a]", "tests: []"],
    { name: "a.yaml", scorer: "math@2" },
    "OPTIONS_INVALID",
    "The scorer math@2 has no effect",
  ],
])("%s is an error", async (_, lines, options, code, message) => {
  await expect(read(lines, options)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
    hint: expect.any(String),
  });
});
