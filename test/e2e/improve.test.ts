import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { runHere } from "./support/run-here.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();
const output = join(folder, "runs");
// A directory is enough: nothing is loaded before the cases are checked.
const model = join(folder, "model");
mkdirSync(model);

/** Improves on a file, and returns how the command ends. */
async function improve(name: string, text: string, ...flags: readonly string[]) {
  const file = join(folder, name);
  writeFileSync(file, text);
  return runHere(["improve", file, "--model", model, "--output", output, "--json", ...flags]);
}

/** Cases with four answers, of which the input has the first letter. */
const rows = (count: number): string =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({ input: `${"abcd"[i % 4]}${i}?`, expected: ["north", "south", "east", "west"][i % 4] }),
  ).join("\n");

/** Configuration of promptfoo with 60 tests and one assertion of each. */
const promptfoo = (assertion: object): string =>
  JSON.stringify({
    prompts: ["Where is {{place}}?"],
    tests: Array.from({ length: 60 }, (_, i) => ({
      vars: { place: `place ${i}`, expected: `${i % 7} km north` },
      assert: [assertion],
    })),
  });

test.each<[string, string, string, readonly string[], RegExp, RegExp]>([
  [
    "10 cases",
    "ten.jsonl",
    rows(10),
    [],
    /^The file has 10 cases, 3 of them held out: they can show no gain at all\. Nothing was trained\.$/,
    /48 different cases/,
  ],
  [
    "a scorer that pays a constant",
    "constant.yaml",
    promptfoo({ type: "javascript", value: "1" }),
    [],
    /^A program that solves nothing earns the top reward in a fifth of the tasks or more[^]*Mean reward 1 in[^]*Nothing was trained\.$/,
    /Compare the answer/,
  ],
  [
    "a scorer that a copied question satisfies",
    "copied.yaml",
    promptfoo({ type: "icontains", value: "{{place}}" }),
    [],
    /^A program that solves nothing earns/,
    /Require the form of an answer|answer/,
  ],
  [
    "expected answers that the scorer refuses",
    "contradiction.yaml",
    promptfoo({ type: "javascript", value: "output === context.vars.expected + '!'" }),
    [],
    /^The expected answers of the training cases have the mean score 0\.00/,
    /form in which the scorer accepts/,
  ],
  [
    "a scorer that fails on the expected answers",
    "failing.yaml",
    promptfoo({ type: "javascript", value: "output === context.vars.expected ? 2 : 0" }),
    [],
    /^40 expected answers of the training cases could not be scored; the first: .*the score 2, and a score is a number from 0 to 1\. Nothing was trained\.$/,
    /Repair the scorer/,
  ],
])("%s is refused before anything is trained", async (_, name, text, flags, message, hint) => {
  const { code, events } = await improve(name, text, ...flags);
  const error = events.find(({ event }) => event === "error");
  expect({ code, error }).toEqual({
    code: 2,
    error: expect.objectContaining({
      code: "CASES_UNFIT",
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    }),
  });
  expect(events.find(({ event }) => event === "improvement")).toMatchObject({ verdict: "refused" });
  expect(readdirSync(folder)).not.toContain("runs");
});

test.each<[string, readonly string[], string]>([
  ["no file", ["--model", model], "USAGE"],
  ["no model", [join(folder, "sixty.jsonl")], "USAGE"],
  [
    "a model that is missing",
    [join(folder, "sixty.jsonl"), "--model", join(folder, "none")],
    "MODEL_DIRECTORY_MISSING",
  ],
  [
    "a scorer that is missing",
    [join(folder, "sixty.jsonl"), "--model", model, "--scorer", "none@1"],
    "REQUIREMENT_MISSING",
  ],
  ["a file that is missing", [join(folder, "none.jsonl"), "--model", model], "DATA_INVALID"],
  ...["environments.0.options.data.eval_share=0", "model.path=/m", "eval.tasks=4", "sampling.max_tokens=9"].map(
    (key): [string, string[], string] => [
      `--set ${key}`,
      [join(folder, "none.jsonl"), "--model", model, "--set", key],
      "USAGE",
    ],
  ),
  ["flags beside --resume", [join(folder, "sixty.jsonl"), "--resume", folder], "USAGE"],
  ["a directory of another kind", ["--resume", folder], "RUN_NOT_FOUND"],
])("%s is an error with exit code 2", async (_, args, code) => {
  writeFileSync(join(folder, "sixty.jsonl"), rows(60));
  const finished = await runHere(["improve", ...args, "--json"]);
  expect([finished.code, finished.events.find(({ event }) => event === "error")]).toEqual([
    2,
    expect.objectContaining({ code, hint: expect.any(String) }),
  ]);
});
