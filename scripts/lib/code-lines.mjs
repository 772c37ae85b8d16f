import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";
import { ScriptError } from "./script.mjs";

/**
 * Returns the code lines of a TypeScript file: lines with anything but blanks, comments and imports.
 * @param {string} path @param {string} text
 */
export function countTypeScript(path, text) {
  const { comments, module } = parseSync(path, text);
  // From the end on, so that the offsets of the others stay right.
  const spans = [...comments, ...module.staticImports].sort((a, b) => b.start - a.start);
  const code = spans.reduce(
    (rest, { start, end }) => rest.slice(0, start) + lineBreaksOf(rest.slice(start, end)) + rest.slice(end),
    text,
  );
  return code.split("\n").filter((line) => line.trim() !== "").length;
}

/** An import within a comment is cut twice: what is left of a cut text are its line breaks, which count for nothing. */
function lineBreaksOf(/** @type {string} */ text) {
  return text.replaceAll(/[^\n]/g, " ");
}

/**
 * Returns the code lines of Python files: lines with anything but blanks, comments, docstrings and imports.
 * @param {string[]} texts @returns {number[]}
 */
export function countPython(texts) {
  const program = fileURLToPath(new URL("count_python.py", import.meta.url));
  const { status, stdout, stderr, error } = spawnSync("python3", [program], {
    input: JSON.stringify(texts),
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new ScriptError(`python3 could not count lines: ${error?.message ?? stderr}`);
  return JSON.parse(stdout);
}
