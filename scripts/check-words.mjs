// node scripts/check-words.mjs [PATH...]: finds phrases that the writing style of CONTRIBUTING.md rules out, with what to write instead.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./lib/repository.mjs";
import { ScriptError, script } from "./lib/script.mjs";

/** @typedef {{ pattern: RegExp, instead: string, only?: RegExp }} Rule only: paths that the rule is about */

/** @type {Rule[]} */
const rules = [
  {
    pattern: /(?:\/\*\*|\/\/|^\s*\*|^\s*#|""")\s*(?:What|How|Why|Whoever|Where)\b(?!.*\?)/,
    instead: "a noun phrase or a verb at the beginning of a comment",
    only: /\.(?:ts|mjs|js|py|proto)$/,
  },
  { pattern: /\b(?:told|tells?|telling)\b/i, instead: "send, return, report, print, or distinguish" },
  { pattern: /\b(?:says?|said|saying)\b/i, instead: "state, print, write, or response" },
  { pattern: /\b(?:hears?|heard)\b/i, instead: "receive" },
  { pattern: /\b(?:speaks?|spoken|spoke)\b/i, instead: "implement or use a protocol" },
  { pattern: /\b(?:go|goes|went|gone|going) on\b/i, instead: "continue or resume" },
  { pattern: /\bwalls?\b(?!(?:[- ](?:time|clock|seconds?))|\s*\/)/i, instead: "isolation layer" },
  {
    pattern: /\b(?:patience|teeth|mourn\w*|mortal|deaf|pupils?|lessons?|taught|teach(?:es)?)\b/i,
    instead: "a technical term",
  },
  {
    pattern: /\b(?:wants?|wishes|believes?|thinks (?!it)|sees|owes|dares|tires)\b/i,
    instead: "need, require, receive, or read",
  },
  { pattern: /\b(?:dies|died|born|lives)\b/i, instead: "exit, end, start, or be in" },
  { pattern: /\b(?:nobody|somebody|whoever|whomever)\b/i, instead: "the noun that is meant" },
  { pattern: /\b(?:becomes?|became) of\b/i, instead: "the result of" },
  { pattern: /\b(?:mends?|mended|mending)\b/i, instead: "repair or fix" },
  { pattern: /\b(?:shall|upon|whilst|amongst|thereof|thereby|hereby|lest|albeit)\b/i, instead: "a common word" },
  {
    pattern: /\b(?:judges?|judged|guests?|players?)\b/i,
    instead: "checker, isolate, or runner: the other words have another meaning (docs/glossary.md)",
    only: /^(?:core\/sandbox|plugins\/sandbox-)/,
  },
];

/** Files whose text is data: word problems, recorded output, names from another system. */
const ignored = /^(?:CHANGELOG\.md|scripts\/check-words\.mjs|docs\/glossary\.md|.*\/(?:gen|fixtures)\/.*)$/;
/** A line that quotes a phrase ends with this marker. */
const marker = "words: quoted";

await script(async () => {
  const paths = process.argv.slice(2);
  const extensions = ["ts", "mjs", "js", "py", "md", "proto", "yaml", "yml"].map((extension) => `*.${extension}`);
  const files = execFileSync("git", ["ls-files", ...(paths.length > 0 ? paths : extensions)], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((path) => /\.(?:ts|mjs|js|py|md|proto|ya?ml)$/.test(path) && !ignored.test(path));
  let found = 0;
  for (const path of files)
    for (const [index, line] of readFileSync(join(root, path), "utf8").split("\n").entries()) {
      if (line.includes(marker)) continue;
      for (const { pattern, instead, only } of rules) {
        const match = only === undefined || only.test(path) ? pattern.exec(line) : null;
        if (match === null) continue;
        found++;
        console.log(`${path}:${index + 1}: "${match[0].trim()}": write ${instead}`);
      }
    }
  if (found > 0) throw new ScriptError(`${found} phrases that the writing style rules out`);
});
