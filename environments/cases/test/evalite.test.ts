import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { gradeFolders, gradePaths } from "./support/graded.ts";

const EXAMPLE = fileURLToPath(new URL("../../../examples/improve/support.eval.ts", import.meta.url));

describe("files of evalite", () => {
  test("the example has 120 cases, whose expected answers alone earn", async () => {
    const [{ cases = [] } = {}] = await gradePaths([EXAMPLE]);
    expect(cases).toHaveLength(120);
    for (const { rewards } of cases)
      expect(rewards).toMatchObject([{ value: 1, components: { team: 1 } }, { value: 0 }, { value: 0 }]);
  });

  test("data is a list or a function; skipped suites are left out; `only` chooses; variants are one suite; scores are averaged", async () => {
    const [{ cases = [] } = {}] = await gradeFolders([
      {
        "a.eval.ts": `
        import { createScorer, evalite } from "evalite";
        import { words } from "./words";
        import { length } from "./length.js";
        interface Given { output: string; expected?: string }
        const same = createScorer<string, string>({ name: "same", scorer: ({ output, expected }: Given) => ({ score: output === expected ? 1 : 0, metadata: { output } }) });
        evalite("words", { data: async () => words, task: () => { throw new Error("The policy answers."); }, scorers: [same, { name: "length", scorer: length }] });
        evalite.skip("skipped", { data: () => { throw new Error("It is skipped."); }, task: async () => "", scorers: [same] });
        evalite.each([{ name: "a", input: 1 }, { name: "b", input: 2 }])("chats", {
          data: [
            { input: "not chosen", expected: "x" },
            { input: [{ role: "system", content: "Be brief." }, { role: "user", content: [{ type: "text", text: "Hello" }] }], expected: { greeting: "hi" }, only: true },
          ],
          task: async () => "", scorers: [async ({ output }) => (output === "no" ? 1 : 0)],
        });`,
        "words.ts": `export const words: { input: string; expected?: string }[] = [{ input: "one", expected: "uno" }, { input: "free" }];`,
        "length.ts": `export const length = ({ output }: { output: string }): number => Math.min(1, output.length / 4);`,
      },
    ]);
    expect(cases.map(({ place, expected }) => [place, expected])).toEqual([
      ['a.eval.ts, suite "words", case 1', "uno"],
      ['a.eval.ts, suite "words", case 2', undefined],
      ['a.eval.ts, suite "chats", case 1', '{"greeting":"hi"}'],
    ]);
    expect(cases[0]?.rewards).toEqual([
      { scored: true, value: 0.875, components: { same: 1, length: 0.75 } },
      { scored: true, value: 0.25, components: { same: 0, length: 0.5 } },
      { scored: true, value: 0, components: { same: 0, length: 0 } },
    ]);
    expect(cases[2]?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(cases[2]?.rewards[1]).toMatchObject({ value: 1 });
  });

  test("a scorer that throws, has no score, or one outside 0 to 1, leaves the answer unscored", async () => {
    const [{ cases = [] } = {}] = await gradeFolders([
      {
        "a.eval.ts": `
        import { evalite } from "evalite";
        const suite = (name: string, scorer: (given: { output: string }) => number | null) => evalite(name, { data: [{ input: "?", expected: "yes" }], task: async () => "", scorers: [scorer] });
        suite("throws", ({ output }) => { if (output === "no") throw new Error("down"); return 1; });
        suite("null", ({ output }) => (output === "no" ? null : 1));
        suite("percent", ({ output }) => (output === "no" ? 85 : 1));`,
      },
    ]);
    expect(cases.map(({ rewards }) => rewards[0])).toEqual(
      cases.map(() => ({ scored: true, value: 1, components: expect.anything() })),
    );
    const unscored = (what: string) => ({
      scored: false,
      code: "SCORER_FAILED",
      message: expect.stringContaining(what),
    });
    expect(cases.map(({ rewards }) => rewards[1])).toEqual([unscored("threw: down"), unscored("null"), unscored("85")]);
  });

  test("a file whose data fails once is read afterwards; files that are read at once do not mix", async () => {
    const flaky = `
      import { evalite } from "evalite";
      await new Promise((resolve) => setTimeout(resolve, 50));
      evalite("s", { data: () => { globalThis.calls = (globalThis.calls ?? 0) + 1; if (globalThis.calls === 1) throw new Error("no disk"); return [{ input: "late" }]; }, task: async () => "", scorers: [() => 1] });`;
    const other = `
      import { evalite } from "evalite";
      evalite("s", { data: [{ input: "other" }], task: async () => "", scorers: [() => 1] });`;
    const folder = mkdtempSync(join(tmpdir(), "mrlm-cases-"));
    try {
      const [a, b, c] = ["a.mjs", "b.mjs", "c.mjs"].map((name) => join(folder, name)) as [string, string, string];
      writeFileSync(a, flaky);
      for (const path of [b, c]) writeFileSync(path, other);
      const graded = await gradePaths([a, a, b, c], [a]);
      expect(graded.map(({ cases, error }) => error?.message ?? cases?.map(({ messages }) => messages))).toEqual([
        expect.stringContaining("`data` throws: no disk"),
        expect.stringContaining("`data` throws: no disk"),
        [[expect.objectContaining({ parts: [{ type: "text", text: "other" }] })]],
        [[expect.objectContaining({ parts: [{ type: "text", text: "other" }] })]],
        [[expect.objectContaining({ parts: [{ type: "text", text: "late" }] })]],
      ]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("malformed files are errors with file, case and action", async () => {
    const graded = await gradeFolders(MALFORMED.map(([text]) => ({ "a.eval.ts": text })));
    expect(graded.map(({ error }) => error)).toEqual(
      MALFORMED.map(([, message]) => ({
        code: "DATA_INVALID",
        message: expect.stringContaining(message),
        hint: expect.any(String),
      })),
    );
  });
});

/** Texts of files, and the beginnings of their errors. */
const MALFORMED: readonly (readonly [text: string, message: string])[] = [
  ["export {};", "a.eval.ts: the file calls evalite() nowhere."],
  [
    `import { Levenshtein } from "autoevals-missing";`,
    "a.eval.ts cannot be imported: Cannot find package 'autoevals-missing'",
  ],
  ["enum A { B }", "a.eval.ts cannot be imported: "],
  [suite("data: [{ input: 'a' }]"), 'a.eval.ts, suite "s": the suite has no scorers'],
  [suite("data: [], scorers: [() => 1]"), "a.eval.ts has no cases."],
  [suite("data: () => { throw new Error('no disk'); }, scorers: [() => 1]"), 'suite "s": `data` throws: no disk.'],
  [suite("data: 'a', scorers: [() => 1]"), 'suite "s": `data` is no list'],
  [
    suite("data: [{ input: 'a' }, { input: { text: 'b' } }], scorers: [() => 1]"),
    'suite "s", case 2: the input is neither a text nor',
  ],
  [
    suite("data: [{ input: [{ role: 'assistant', content: 'a' }] }], scorers: [() => 1]"),
    'suite "s", case 1: the input',
  ],
];

function suite(options: string): string {
  return `import { evalite } from "evalite"; evalite("s", { ${options}, task: async () => "" } as never);`;
}
