import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { type CodeBlock, codeBlocks, yamlSpans } from "./code-blocks/blocks.ts";
import { jsonFaults } from "./code-blocks/json.ts";
import { shellFaults } from "./code-blocks/shell.ts";
import { isConfiguration, parserFaults, yamlFaults, yamlOptionFaults } from "./code-blocks/yaml.ts";

const blocks = codeBlocks();
const of = (...languages: string[]): CodeBlock[] => blocks.filter(({ language }) => languages.includes(language));
const placed = (block: CodeBlock, faults: readonly string[]): string[] =>
  faults.map((fault) => `${block.page}:${block.line} ${fault}`);

test("every block has a language that a test below reads, or none", () => {
  const known = ["", "ts", "yaml", "sh", "json", "jsonc", "python"];
  expect(
    blocks
      .filter(({ language }) => !known.includes(language))
      .map(({ page, line, language }) => `${page}:${line} ${language}`),
  ).toEqual([]);
  expect(blocks.length).toBeGreaterThan(100);
});

test("commands exist with the flags, scripts and files that pages give them", () => {
  expect(of("sh").flatMap((block) => placed(block, shellFaults(block)))).toEqual([]);
});

test("YAML has the keys and values of a configuration", () => {
  expect(of("yaml").flatMap((block) => placed(block, yamlFaults(block)))).toEqual([]);
});

test("N5: the parser of configurations accepts YAML, in blocks and in lines", () => {
  const spans = yamlSpans().filter(isConfiguration);
  expect(spans.length).toBeGreaterThan(10);
  expect([...of("yaml"), ...spans].flatMap((block) => placed(block, parserFaults(block)))).toEqual([]);
});

test("stages and environments have the options of the built-in algorithms and environments", async () => {
  const faults = of("yaml").map(async (block) => placed(block, await yamlOptionFaults(block)));
  expect((await Promise.all(faults)).flat()).toEqual([]);
});

test("JSON is a package.json with a valid manifest, settings of an MCP client, or a row of data", () => {
  expect(of("json", "jsonc").flatMap((block) => placed(block, jsonFaults(block)))).toEqual([]);
});

test("Python can be compiled", () => {
  const sources = of("python").map(({ page, line, code }) => ({ page, line, code }));
  const script =
    "import ast, json, sys\nfor block in json.load(sys.stdin):\n    ast.parse(block['code'], f\"{block['page']}:{block['line']}\")";
  execFileSync("python3", ["-c", script], { input: JSON.stringify(sources) });
});
