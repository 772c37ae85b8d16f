import { codeBlocks } from "../../test/code-blocks/blocks.ts";
import { attempt, ROOT } from "../../test/lifecycle/support/program.ts";

/** Languages whose blocks test/code-blocks.test.ts compiles, validates or runs. The others are output and diagrams. */
const READ = new Set(["ts", "yaml", "sh", "json", "jsonc", "python"]);

/** Counts the code blocks of the documentation, and those that the tests read without a fault: all, or none where a test fails. */
export async function blockFigures(): Promise<Record<string, number>> {
  const blocks = codeBlocks().filter(({ language }) => language !== "");
  const { code, stderr } = await attempt("npm", ["test", "--", "test/code-blocks.test.ts"], ROOT, process.env);
  if (code !== 0) console.error(stderr);
  const read = blocks.filter(({ language }) => READ.has(language));
  return { code_blocks: blocks.length, code_blocks_run: code === 0 ? read.length : 0 };
}
