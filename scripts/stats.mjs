// npm run stats -- [COMMIT] [--json]: the size of the working tree, or of a commit.
// Code lines have no blank lines, comments, imports and generated files; TypeScript and Python of the packages, without tests and fixtures.
import { countPython, countTypeScript } from "./lib/code-lines.mjs";
import { filesOf } from "./lib/commit-files.mjs";
import { countSymbols, exportedNames } from "./lib/exports.mjs";
import { script } from "./lib/script.mjs";

const PACKAGES = /^(core|environments|plugins|algorithms)\//;
const TESTS = /(^|\/)(tests?|fixtures)\//;
const GENERATED = /(^|\/)gen\/|_pb2(_grpc)?\.pyi?$/;

/** Counts that docs/architecture.md states, by its headings. Tests compare them with the files that run. */
const FLOWS = {
  "files of a step": "A step on a server",
  "files of a step with workers": "With workers",
  "files from a reward to a gradient": "From a reward to a gradient",
  "files of a tool call": "A tool call",
};

/** Packages whose lines are shown beside the others. */
const APART = ["plugins/scorer-math/", "plugins/store-postgres/"];

await script(async () => {
  const args = process.argv.slice(2);
  const stats = statsOf(args.find((arg) => !arg.startsWith("-")));
  if (args.includes("--json")) return console.log(JSON.stringify(stats));
  for (const [name, value] of Object.entries(stats)) console.log(`${name.padEnd(36)}${value.toLocaleString("en")}`);
});

/** @param {string | undefined} commit */
function statsOf(commit) {
  const files = filesOf(commit, (path) => /\.(ts|mts|py|md)$/.test(path) && !GENERATED.test(path));
  const code = codeLinesOf(files.filter(({ path }) => PACKAGES.test(path) && !TESTS.test(path)));
  const tests = codeLinesOf(files.filter(({ path }) => TESTS.test(path)));
  const apart = (/** @type {string} */ folder) => sumOf(code.filter(({ path }) => path.startsWith(folder)));
  return {
    "code lines": sumOf(code.filter(({ path }) => !APART.some((folder) => path.startsWith(folder)))),
    ...Object.fromEntries(APART.map((folder) => [folder.slice(0, -1), apart(folder)])),
    "source files": code.length,
    "code lines of tests": sumOf(tests),
    "test files": tests.length,
    // The names of a commit would need its packages on the disk.
    ...(commit === undefined ? { "exported symbols": countSymbols(exportedNames()) } : {}),
    ...flowsOf(files.find(({ path }) => path === "docs/architecture.md")?.text ?? ""),
    "words of docs": wordsOf(files.filter(({ path }) => path.startsWith("docs/"))),
    "words of README": wordsOf(files.filter(({ path }) => path === "README.md")),
  };
}

/** @param {{ path: string, text: string }[]} files @returns {{ path: string, lines: number }[]} */
function codeLinesOf(files) {
  const python = files.filter(({ path }) => path.endsWith(".py"));
  const pythonLines = countPython(python.map(({ text }) => text));
  return [
    ...python.map(({ path }, i) => ({ path, lines: pythonLines[i] ?? 0 })),
    ...files
      .filter(({ path }) => path.endsWith("ts"))
      .map(({ path, text }) => ({ path, lines: countTypeScript(path, text) })),
  ];
}

/** @param {{ lines: number }[]} files */
function sumOf(files) {
  return files.reduce((sum, { lines }) => sum + lines, 0);
}

/** @param {{ path: string, text: string }[]} files */
function wordsOf(files) {
  return files.filter(({ path }) => path.endsWith(".md")).flatMap(({ text }) => text.match(/\S+/g) ?? []).length;
}

/** Returns the counts of the flows that a text of docs/architecture.md states. @param {string} text @returns {Record<string, number>} */
function flowsOf(text) {
  return Object.fromEntries(
    Object.entries(FLOWS).flatMap(([name, heading]) => {
      const count = new RegExp(`^#+ ${heading}\n+\\*\\*(\\d+) files`, "m").exec(text)?.[1];
      return count === undefined ? [] : [[name, Number(count)]];
    }),
  );
}
