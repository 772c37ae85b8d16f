import type { RandomStream } from "@mrlm/kit";
import { type Family, sketch } from "../sketch.ts";
import { drawLetters, drawText } from "../steps/texts.ts";
import { byCode } from "../steps/word-bank.ts";

interface Class {
  readonly prose: string;
  readonly terse: string;
  /** Conditions on a character `c`. */
  readonly python: string;
  readonly typescript: string;
  readonly has: RegExp;
}

const CLASSES: readonly ((random: RandomStream) => Class)[] = [
  () => ({
    prose: "lower-case vowel (a, e, i, o, u)",
    terse: "vowel",
    python: `c in "aeiou"`,
    typescript: `"aeiou".includes(c)`,
    has: /[aeiou]/,
  }),
  () => ({ prose: "digit", terse: "digit", python: "c.isdigit()", typescript: `c >= "0" && c <= "9"`, has: /[0-9]/ }),
  () => ({
    prose: "upper-case letter",
    terse: "upper",
    python: "c.isupper()",
    typescript: `c >= "A" && c <= "Z"`,
    has: /[A-Z]/,
  }),
  () => ({ prose: "space", terse: "space", python: `c == " "`, typescript: `c === " "`, has: / / }),
  (random) => {
    const set = drawLetters(random, 3);
    return {
      prose: `of the letters ${[...set].join(", ")}`,
      terse: set,
      python: `c in "${set}"`,
      typescript: `"${set}".includes(c)`,
      has: new RegExp(`[${set}]`),
    };
  },
  (random) => {
    const last = random.pick([..."defghijklm"]);
    return {
      prose: `lower-case letter from a to ${last}`,
      terse: `a-${last}`,
      python: `"a" <= c <= "${last}"`,
      typescript: `c >= "a" && c <= "${last}"`,
      has: new RegExp(`[a-${last}]`),
    };
  },
];

/** Points for the characters of a text. */
export const counting: Family = {
  name: "counting",
  generate(random, difficulty) {
    const classes = random.shuffle(CLASSES).slice(0, Math.min(CLASSES.length, 1 + Math.floor(difficulty / 2)));
    // In a fixed order: rules that differ in their order only are one task.
    const rules = classes
      .map((make) => ({
        ...make(random),
        points: random.integer(1, 9) * (difficulty > 4 && random.next() < 0.3 ? -1 : 1),
      }))
      .toSorted((one, other) => byCode(one.terse, other.terse));
    const start = difficulty > 2 ? random.integer(1, 20) : 0;
    const words = rules.map(({ prose, points }) => `${points} for each ${prose}`).join(", ");
    return sketch<[string]>({
      name: "points",
      parameters: [["text", "str"]],
      returns: "int",
      prose: `Count points for a text: ${start === 0 ? "" : `${start} to begin with, then `}${words}. A character earns by every rule that fits it. Return the points.`,
      terse: [start === 0 ? [] : [start], rules.map(({ terse, points }) => `${points} ${terse}`)].flat().join(","),
      python: [
        `total = ${start}`,
        "for c in text:",
        ...rules.flatMap(({ python, points }) => [`    if ${python}:`, `        total += ${points}`]),
        "return total",
      ],
      typescript: [
        `let total = ${start};`,
        "for (const c of text) {",
        ...rules.map(({ typescript, points }) => `    if (${typescript}) total += ${points};`),
        "}",
        "return total;",
      ],
      solve: (text) =>
        rules.reduce((total, { has, points }) => total + points * [...text].filter((c) => has.test(c)).length, start),
      draw: (stream) => [drawText(stream) + drawText(stream)],
      edges: [[""]],
    });
  },
};
