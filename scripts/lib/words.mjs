// The phrases that the writing style of CONTRIBUTING.md rules out.

/** @typedef {{ pattern: RegExp, instead: string, only?: RegExp }} Rule only: paths that the rule is about */

/** @type {Rule[]} */
const rules = [
  {
    // A question, as in a generated task, ends with its mark.
    pattern:
      /(?:\/\*\*|\/\/|^\s*\*|^\s*#|""")\s*(?:What|How|Why|Who|Whom|Whose|Whoever|Which|Where)\b(?!.*\?\s*(?:\*\/|""")?$)/,
    instead: "a noun phrase or a verb at the beginning of a comment",
    only: /\.(?:ts|mjs|js|py|proto|ya?ml)$/,
  },
  { pattern: /\b(?:told|tells?|telling)\b/i, instead: "send, return, report, print, or distinguish" },
  { pattern: /\b(?:says?|said|saying)\b/i, instead: "state, print, write, or response" },
  { pattern: /\b(?:hears?|heard)\b/i, instead: "receive" },
  { pattern: /\b(?:speaks?|spoken|spoke)\b/i, instead: "implement or use a protocol" },
  { pattern: /\b(?:go|goes|went|gone|going) on\b/i, instead: "continue or resume" },
  // `wall` alone is wall-clock time.
  {
    pattern: /\bwalls\b|\b(?:an?|the|no|one|each|every|another|its|this|that) wall\b(?![- ](?:time|clock|seconds?))/i,
    instead: "isolation layer",
  },
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
  {
    pattern: /\b(?:for good(?! (?:and|or|reasons?)\b)|given free|eyes)\b/i,
    instead: "permanently, released, or a technical term",
  },
  { pattern: /\b(?:mends?|mended|mending)\b/i, instead: "repair or fix" },
  { pattern: /\b(?:shall|upon|whilst|amongst|thereof|thereby|hereby|lest|albeit)\b/i, instead: "a common word" },
  {
    pattern: /\b(?:judges?|judged|guests?|players?)\b/i,
    instead: "checker, isolate, or runner: the other words have another meaning (docs/glossary.md)",
    only: /^(?:core\/sandbox|plugins\/sandbox-)/,
  },
];

/** A line that quotes a phrase ends with this marker. */
const marker = "words: quoted";

/**
 * Finds the phrases that are ruled out in a file.
 * @param {string} path relative to the repository, with `/`
 * @param {string} text
 * @returns {{ line: number, phrase: string, instead: string }[]}
 */
export function phrasesIn(path, text) {
  const applied = rules.filter(({ only }) => only === undefined || only.test(path));
  return text.split("\n").flatMap((content, index) =>
    content.includes(marker)
      ? []
      : applied.flatMap(({ pattern, instead }) => {
          const match = pattern.exec(content);
          return match === null ? [] : [{ line: index + 1, phrase: match[0].trim(), instead }];
        }),
  );
}
