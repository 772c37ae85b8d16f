import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { CaseInspection } from "../src/services/improve/inspected-cases.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-inspected-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Test {
  readonly vars: { readonly place: string; readonly expected?: string };
}

/** Inspects a configuration of promptfoo whose tests are in a file of their own. */
async function inspected<Result>(
  { name, tests, assertion }: { readonly name: string; readonly tests: readonly Test[]; readonly assertion: string },
  use: (inspection: CaseInspection) => Result | Promise<Result>,
): Promise<Result> {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "tests.json"), JSON.stringify(tests));
  const path = join(own, "config.yaml");
  const assert = [{ type: "javascript", value: assertion }];
  writeFileSync(
    path,
    JSON.stringify({ prompts: ["Where is {{place}}?"], defaultTest: { assert }, tests: "file://tests.json" }),
  );
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const inspection = await CaseInspection.open({ path }, process.cwd(), logger);
  try {
    return await use(inspection);
  } finally {
    await inspection.close();
  }
}

const tests = (count: number, change: (i: number) => Partial<Test["vars"]> = () => ({})): Test[] =>
  Array.from({ length: count }, (_, i) => ({ vars: { place: `place ${i}`, expected: `${i % 3} km`, ...change(i) } }));
const EQUAL = "output === context.vars.expected";
const signal = new AbortController().signal;

test("the hash covers prompts and expected answers of all cases, also those of other files; equal inputs count once", async () => {
  const hashOf = (name: string, given: readonly Test[]) =>
    inspected({ name, tests: given, assertion: EQUAL }, ({ cases }) => cases);
  const [one, same, prompt, answer, repeated] = [
    await hashOf("one", tests(30)),
    await hashOf("same", tests(30)),
    await hashOf(
      "prompt",
      tests(30, (i) => (i === 7 ? { place: "elsewhere" } : {})),
    ),
    ...[
      await hashOf(
        "answer",
        tests(30, (i) => (i === 7 ? { expected: "far" } : {})),
      ),
    ],
    await hashOf("repeated", [...tests(30), ...tests(30)]),
  ];
  expect(same?.hash).toBe(one?.hash);
  expect(new Set([one, prompt, answer].map((each) => each?.hash)).size).toBe(3);
  expect(one).toMatchObject({ train: 20, held: 10, distinct: 10 });
  expect(repeated).toMatchObject({ train: 40, held: 20, distinct: 10 });
  // The answer of each case counts, held out or not.
  const hashes = [];
  for (let k = 0; k < 4; k++)
    hashes.push(
      (
        await hashOf(
          `answer-${k}`,
          tests(4, (i) => (i === k ? { expected: "far" } : {})),
        )
      )?.hash,
    );
  expect(new Set(hashes).size).toBe(4);
});

test("the expected answers that exist are graded and give a fixed answer, where a case has none", async () => {
  const some = tests(30, (i) => (i % 2 === 0 ? {} : { expected: undefined as never }));
  const expected = await inspected({ name: "some", tests: some, assertion: EQUAL }, (each) =>
    each.expectedAnswers(signal),
  );
  expect(expected).toMatchObject({ reward: 1, below: 0, unscored: [], fixed: expect.stringMatching(/ km$/) });
  expect(expected?.missing).toBeGreaterThan(0);
  const none = tests(6, () => ({ expected: undefined as never }));
  expect(
    await inspected({ name: "none", tests: none, assertion: "1" }, (each) => each.expectedAnswers(signal)),
  ).toBeUndefined();
});
