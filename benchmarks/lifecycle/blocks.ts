import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CodeBlock, codeBlocks } from "../../test/code-blocks/blocks.ts";
import { attempt, ROOT } from "../../test/lifecycle/support/program.ts";

/** The parts of jest's report that are read. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Counts the code blocks of the documentation that have a language, and those that a test has compiled, validated or run. */
export async function blockFigures(): Promise<Record<string, number>> {
  const blocks = codeBlocks().filter(({ language }) => language !== "");
  const { stderr } = await attempt("npm", ["test", "--", "test/code-blocks.test.ts"], ROOT, process.env);
  const passed = passedTests();
  if (passed.size === 0) console.error(stderr);
  return { code_blocks: blocks.length, code_blocks_run: blocks.filter((block) => isRead(block, passed)).length };
}

/** Whether a test that passed reads the language of a block. Its title begins with the language. */
function isRead({ language }: CodeBlock, passed: ReadonlySet<string>): boolean {
  const name = { ts: "TypeScript", yaml: "YAML", sh: "commands", json: "JSON", jsonc: "JSON", python: "Python" }[
    language
  ];
  return name !== undefined && [...passed].some((title) => title.startsWith(`${name} `));
}

/** Returns the titles of the tests of the last run that passed. */
function passedTests(): Set<string> {
  const report = JSON.parse(readFileSync(join(ROOT, "node_modules/.cache/mrlm/jest.json"), "utf8")) as Report;
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  return new Set(results.filter(({ status }) => status === "passed").map(({ title }) => title));
}
