import { type CodeBlock, codeBlocks } from "../../test/code-blocks/blocks.ts";
import { attempt, ROOT } from "../../test/lifecycle/support/program.ts";
import { testStatuses } from "../jest-report.ts";

/** Counts the code blocks of the documentation that have a language, and those that a test has compiled, validated or run. */
export async function blockFigures(): Promise<Record<string, number>> {
  const blocks = codeBlocks().filter(({ language }) => language !== "");
  const { stderr } = await attempt("npm", ["test", "--", "test/code-blocks.test.ts"], ROOT, process.env);
  const passed = new Set([...testStatuses()].filter(([, status]) => status === "passed").map(([title]) => title));
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
