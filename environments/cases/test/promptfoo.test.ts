import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { JsonObject, JsonValue, Reward } from "@mrlm/kit";
import fc from "fast-check";
import type { Case } from "../src/case.ts";
import { render } from "../src/promptfoo/template.ts";
import { readCases } from "../src/read-cases.ts";
import { casesOptions } from "../src/options.ts";
import { gradeFolders } from "./support/graded.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/improve/promptfooconfig.yaml", import.meta.url));
const scorer = () => {
  throw new Error("Assertions need no scorer.");
};
const given = { context: { scorer }, signal: new AbortController().signal };
const read = async (path: string): Promise<readonly Case[]> =>
  (await readCases(path, casesOptions.parse({ data: { path } }))).cases;

let folder: string;
let files = 0;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "mrlm-promptfoo-"))));
afterAll(() => rmSync(folder, { recursive: true }));

/** Reads a configuration; other members replace those of one with one prompt. */
async function readConfig(
  members: JsonObject,
  others: Readonly<Record<string, string>> = {},
): Promise<readonly Case[]> {
  for (const [name, text] of Object.entries(others)) writeFileSync(join(folder, name), text);
  const path = join(folder, `${files++}.json`);
  writeFileSync(path, JSON.stringify({ prompts: ["{{text}}"], ...members }));
  return read(path);
}

/** Grades an output by the assertions of one test. */
async function grade(output: string, assert: JsonValue, more: JsonObject = {}): Promise<Reward> {
  const [only] = await readConfig({
    tests: [{ vars: { text: "t", word: "yes", expected: { a: 1 } }, assert, ...more }],
  });
  return (only as Case).grade(output, given);
}

const components = (values: Readonly<Record<string, number>>) => expect.objectContaining({ components: values });

describe("configurations of promptfoo", () => {
  test("the example has 120 tests, whose expected answers earn 1", async () => {
    const cases = await read(EXAMPLE);
    expect(cases).toHaveLength(120);
    for (const { expected = "", grade } of cases) {
      expect(await grade(expected, given)).toEqual({
        scored: true,
        value: 1,
        components: { item: 1, quantity: 1, city: 1, solved: 1 },
      });
      expect(await grade("", given)).toMatchObject({ value: 0, components: { solved: 0 } });
    }
  });

  test.each<[JsonObject, right: string[], wrong: string[]]>([
    [{ type: "equals", value: "{{word}}" }, ["yes"], ["Yes", "yes.", ""]],
    [{ type: "not-equals", value: "yes" }, ["no"], ["yes"]],
    [{ type: "equals", value: { a: [1] } }, ['{"a":[1]}', ' { "a" : [1] } '], ['{"a":[2]}', "a"]],
    [{ type: "equals", value: 4 }, ["4"], ["4.0"]],
    [{ type: "contains", value: "{{word}}" }, ["oh yes!"], ["YES"]],
    [{ type: "icontains", value: "Yes" }, ["oh YES!"], ["no"]],
    [{ type: "not-icontains", value: "yes" }, ["no"], ["YES"]],
    [{ type: "starts-with", value: "yes" }, ["yes, it is"], ["oh yes"]],
    [{ type: "contains-any", value: ["{{word}}", "oui"] }, ["oui", "yes"], ["Oui"]],
    [{ type: "icontains-any", value: "si, oui" }, ["Oui"], ["no"]],
    [{ type: "contains-all", value: ["yes", 2] }, ["2 yes"], ["yes"]],
    [{ type: "icontains-all", value: ["yes", "no"] }, ["YES No"], ["yes"]],
    [{ type: "regex", value: String.raw`^\d+$` }, ["12"], ["12a"]],
    [{ type: "is-json" }, ["{}", "3"], ["{", ""]],
    [{ type: "is-json", value: { required: ["a"], type: "object" } }, ['{"a":1}'], ["{}", "1"]],
    [{ type: "is-json", value: "required: [a]\ntype: object" }, ['{"a":1}'], ["{}"]],
    [{ type: "not-is-json" }, ["text"], ["{}"]],
    [
      { type: "is-json", value: { properties: { d: { format: "date" } } } },
      ['{"d":"2024-02-29"}'],
      ['{"d":"2023-02-29"}'],
    ],
    [{ type: "javascript", value: "output === context.vars.word;" }, ["yes"], ["no"]],
    [
      { type: "javascript", value: "const n = output.length;\nreturn n > 2 && context.prompt === 't'" },
      ["yes"],
      ["no"],
    ],
    [{ type: "not-javascript", value: "output === '{{word}}'" }, ["no"], ["yes"]],
    [{ type: "javascript", value: "JSON.parse(output).a === context.vars.expected.a" }, ['{"a":1}'], ['{"a":2}', "a"]],
    [
      { type: "javascript", value: "Promise.resolve({ pass: true, score: output.length / 3, reason: '' })" },
      ["yes"],
      [],
    ],
  ])("%j", async (assertion, right, wrong) => {
    for (const output of right)
      expect(await grade(output, [assertion])).toMatchObject({ value: 1, components: { solved: 1 } });
    for (const output of wrong)
      expect(await grade(output, [assertion])).toMatchObject({ value: 0, components: { solved: 0 } });
  });

  test("a function that throws or returns no result fails, inverse or not", async () => {
    for (const value of ["output.no.member", "undefined", "'text'", "({ pass: true })", "Number.NaN"])
      for (const type of ["javascript", "not-javascript"])
        expect(await grade("yes", [{ type, value }])).toMatchObject({ value: 0, components: { solved: 0 } });
  });

  test("a number is a score, which passes above 0 or from its threshold on", async () => {
    const half = { type: "javascript", value: "0.5" };
    expect(await grade("", [half])).toEqual(components({ solved: 1 }));
    expect(await grade("", [{ ...half, threshold: 0.6 }])).toMatchObject({ value: 0.5, components: { solved: 0 } });
    expect(await grade("", [{ ...half, type: "not-javascript", threshold: 0.6 }])).toMatchObject({
      components: { solved: 1 },
    });
    expect(await grade("", [{ type: "javascript", value: "7" }])).toMatchObject({
      scored: false,
      code: "SCORER_FAILED",
    });
  });

  test("weights, thresholds, sets and metrics are those of promptfoo", async () => {
    const has = (value: string, more: JsonObject = {}): JsonObject => ({ type: "contains", value, ...more });
    expect(await grade("a", [has("a", { weight: 3 }), has("b")])).toEqual({
      scored: true,
      value: 0.75,
      components: { solved: 0 },
    });
    expect(await grade("a", [has("a", { weight: 3 }), has("b")], { threshold: 0.7 })).toEqual(
      components({ solved: 1 }),
    );
    expect(await grade("a", [has("a"), has("b", { weight: 0 })])).toMatchObject({
      value: 1,
      components: { solved: 1 },
    });
    expect(
      await grade("a", [has("a", { metric: "m" }), has("b", { metric: "m", weight: 3 }), has("a", { metric: "n" })]),
    ).toEqual(components({ m: 0.25, n: 1, solved: 0 }));
    const set = { type: "assert-set", threshold: 0.5, weight: 2, metric: "set", assert: [has("a"), has("b")] };
    expect(await grade("a", [set, has("a")])).toEqual({
      scored: true,
      value: 2 / 3,
      components: { set: 0.5, solved: 1 },
    });
  });

  test("defaultTest, files of tests, prompts and functions, chats", async () => {
    const cases = await readConfig(
      {
        prompts: ["file://chat.json"],
        defaultTest: { vars: { text: "default" }, assert: [{ type: "contains", value: "a" }] },
        tests: ["file://tests.yaml", { vars: { text: "own" }, assert: [{ type: "equals", value: "{{text}} a" }] }],
      },
      {
        "chat.json": JSON.stringify([
          { role: "system", content: "Print {{text}}." },
          { role: "user", content: "Now." },
        ]),
        "tests.yaml": "- vars: { expected: 3 }\n",
      },
    );
    expect(cases.map(({ expected, messages }) => [expected, messages[0]?.parts])).toEqual([
      ["3", [{ type: "text", text: "Print default." }]],
      ["own a", [{ type: "text", text: "Print own." }]],
    ]);
    expect(await cases[1]?.grade("a", given)).toMatchObject({ value: 0.5 });
    const [{ cases: loaded, error } = {}] = await gradeFolders([
      {
        "c.yaml": `prompts: ["a"]\ntests:\n  - vars: { expected: "no" }\n    assert: [{ type: javascript, value: "file://f.ts:short" }]\n`,
        "f.ts": `export const short = (output: string, { vars }: { vars: { expected: string } }): boolean => output === vars.expected;`,
      },
    ]);
    expect(error).toBeUndefined();
    expect(loaded?.[0]?.rewards).toMatchObject([{ value: 1 }, { value: 1 }, { value: 0 }]);
  });

  const own = [{ type: "equals", value: "a" }];
  test.each<[string, JsonObject, string]>([
    ["no tests", { tests: undefined as never }, "the file has no `prompts` and `tests`"],
    ["several prompts", { prompts: ["a", "b"], tests: [{ assert: own }] }, "`prompts` has 2 prompts"],
    ["a missing file", { prompts: ["file://none.txt"], tests: [{ assert: own }] }, "none.txt cannot be read"],
    ["a table of tests", { tests: "file://tests.csv" }, "tests[0]: "],
    ["scenarios", { tests: [], scenarios: [] }, "`scenarios` cannot be read"],
    ["no assertions", { prompts: "a", tests: [{}] }, "tests[0]: the test has no assertions"],
    [
      "a filter",
      { prompts: "{{ text | upper }}", tests: [{ vars: { text: "a" }, assert: own }] },
      "tests[0]: the template has `{{ text | upper }}`",
    ],
    [
      "a missing variable",
      { tests: [{ vars: { other: "a" }, assert: own }] },
      "tests[0]: the template has {{text}}, which is no variable",
    ],
    [
      "a list of values",
      { tests: [{ vars: { text: ["a", "b"] }, assert: own }] },
      "tests[0]: the variable text is a list",
    ],
    [
      "a variable from a file",
      { tests: [{ vars: { text: "file://a.txt" }, assert: own }] },
      "tests[0]: the variable text names a file",
    ],
    [
      "a transform",
      { tests: [{ vars: { text: "a" }, assert: own, options: { transform: "output.trim()" } }] },
      "tests[0]: `options.transform` cannot be read",
    ],
    [
      "a rubric",
      { tests: [{ vars: { text: "a" }, assert: [...own, { type: "llm-rubric", value: "is polite" }] }] },
      "tests[0], assert[1]: the assertion llm-rubric cannot be read",
    ],
    [
      "a transform of an assertion",
      { tests: [{ vars: { text: "a" }, assert: [{ ...own[0], transform: "output" }] }] },
      "tests[0], assert[0]: it: Unrecognized key",
    ],
    [
      "a weight below 0",
      { tests: [{ vars: { text: "a" }, assert: [{ ...own[0], weight: -1 }] }] },
      "tests[0], assert[0]: weight: ",
    ],
    [
      "no regular expression",
      { tests: [{ vars: { text: "a" }, assert: [{ type: "regex", value: "(" }] }] },
      "tests[0], assert[0]: the value is no regular expression",
    ],
    [
      "no code",
      { tests: [{ vars: { text: "a" }, assert: [{ type: "javascript", value: "const a = 1; a" }] }] },
      "tests[0], assert[0]: the value of javascript is no code",
    ],
    [
      "no schema",
      { tests: [{ vars: { text: "a" }, assert: [{ type: "is-json", value: { type: "thing" } }] }] },
      "tests[0], assert[0]: the value is no JSON Schema",
    ],
    [
      "nothing to contain",
      { tests: [{ vars: { text: "a" }, assert: [{ type: "contains" }] }] },
      "tests[0], assert[0]: the value is neither a text nor a number",
    ],
  ])("%s is an error with file, test and action", async (_, members, message) => {
    await expect(readConfig(members, { "tests.csv": "text\na\n" })).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringContaining(message),
      hint: expect.any(String),
    });
  });
});

test("a template is its texts with the variables between them, whatever these hold", () => {
  const text = fc.string().filter((each) => !/[{}]/.test(each));
  const name = fc.stringMatching(/^[A-Za-z_]\w{0,8}$/).filter((each) => !(each in {}));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, name, fc.string(), fc.constantFrom("{{", "{{ ", "{{-"))),
      text,
      (parts, end) => {
        const vars = Object.fromEntries(parts.map(([, each, value]) => [each, value]));
        const template = parts.map(([before, each, , open]) => `${before}${open}${each} }}`).join("") + end;
        expect(render(template, vars, "place")).toBe(parts.map(([before, each]) => before + vars[each]).join("") + end);
      },
    ),
  );
});
