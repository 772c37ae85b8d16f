import type { RandomStream } from "@mrlm/kit";
import { type Family, sketch } from "../sketch.ts";
import { chain, drawSteps, type Step, type StepMaker } from "../steps/step.ts";
import { drawLetters } from "../steps/texts.ts";
import { byCode, drawSentence } from "../steps/word-bank.ts";

type Words = readonly string[];

const wordSteps: readonly StepMaker<Words>[] = [
  (random) => {
    const k = random.integer(2, 5);
    return {
      prose: `keep the words of more than ${k} letters`,
      terse: `len>${k}`,
      python: (w) => `[word for word in ${w} if len(word) > ${k}]`,
      typescript: (w) => `${w}.filter((word) => word.length > ${k})`,
      apply: (w) => w.filter((word) => word.length > k),
    };
  },
  (random) => {
    const set = drawLetters(random, 4);
    return {
      prose: `drop the words that begin with one of ${[...set].join(", ")}`,
      terse: `not ${set}..`,
      python: (w) => `[word for word in ${w} if word[0] not in "${set}"]`,
      typescript: (w) => `${w}.filter((word) => !"${set}".includes(word.charAt(0)))`,
      apply: (w) => w.filter(([first]) => !set.includes(first as string)),
    };
  },
  (random) => {
    const letter = random.pick([..."aeiorstn"]);
    return {
      prose: `keep the words that contain the letter ${letter}`,
      terse: `has ${letter}`,
      python: (w) => `[word for word in ${w} if "${letter}" in word]`,
      typescript: (w) => `${w}.filter((word) => word.includes("${letter}"))`,
      apply: (w) => w.filter((word) => word.indexOf(letter) >= 0),
    };
  },
  () => ({
    prose: "put the words in reverse order",
    terse: "reverse",
    python: (w) => `${w}[::-1]`,
    typescript: (w) => `[...${w}].reverse()`,
    apply: (w) => w.toReversed(),
  }),
  () => ({
    prose: "sort the words alphabetically",
    terse: "sort",
    python: (w) => `sorted(${w})`,
    typescript: (w) => `[...${w}].sort()`,
    apply: (w) => w.toSorted(byCode),
  }),
  () => ({
    prose: "sort the words by length, those of the same length staying in order",
    terse: "sort len",
    python: (w) => `sorted(${w}, key=len)`,
    typescript: (w) => `[...${w}].sort((one, other) => one.length - other.length)`,
    apply: (w) =>
      [...new Set(w.map(({ length }) => length))]
        .toSorted((a, b) => a - b)
        .flatMap((length) => w.filter((word) => word.length === length)),
  }),
  () => ({
    prose: "turn each word back to front",
    terse: "flip",
    python: (w) => `[word[::-1] for word in ${w}]`,
    typescript: (w) => `${w}.map((word) => [...word].reverse().join(""))`,
    apply: (w) => w.map((word) => [...word].toReversed().join("")),
  }),
  (random) => {
    const k = random.integer(2, 4);
    return {
      prose: `shorten each word to its first ${k} letters`,
      terse: `cut ${k}`,
      python: (w) => `[word[:${k}] for word in ${w}]`,
      typescript: (w) => `${w}.map((word) => word.slice(0, ${k}))`,
      apply: (w) => w.map((word) => word.substring(0, k)),
    };
  },
  () => ({
    prose: "drop words that came before",
    terse: "unique",
    python: (w) => `list(dict.fromkeys(${w}))`,
    typescript: (w) => `[...new Set(${w})]`,
    apply: (w) => w.filter((word, i) => w.indexOf(word) === i),
  }),
];

type End = Step<Words, string> | Step<Words, number>;
const ends: readonly ((random: RandomStream) => End)[] = [
  (random) => {
    const glue = random.pick(["-", "_", "+", "/", ", ", "..", ""]);
    return {
      prose: glue === "" ? "join them without anything in between" : `join them with "${glue}"`,
      terse: `join ${glue}`.trimEnd(),
      python: (w) => `"${glue}".join(${w})`,
      typescript: (w) => `${w}.join("${glue}")`,
      apply: (w) => w.reduce((text, word, i) => (i === 0 ? word : text + glue + word), ""),
    };
  },
  () => ({
    prose: "count all their letters",
    terse: "letters",
    python: (w) => `sum(len(word) for word in ${w})`,
    typescript: (w) => `${w}.join("").length`,
    apply: (w) => w.reduce((sum, { length }) => sum + length, 0),
  }),
];

/** The words of a sentence: chosen, ordered, changed and put together. */
export const words: Family = {
  name: "words",
  generate(random, difficulty) {
    const end = (random.next() < 0.8 ? (ends[0] as (typeof ends)[number]) : (ends[1] as (typeof ends)[number]))(random);
    const { prose, terse, python, typescript, apply, shorter } = chain("words", [
      ...drawSteps(random, wordSteps, Math.ceil(difficulty / 2.5)),
      end as Step<never>,
    ]);
    const split = (text: string): Words => text.split(" ").filter((word) => word !== "");
    return sketch<[string]>({
      name: "arrange",
      parameters: [["text", "str"]],
      returns: end.prose.startsWith("count") ? "int" : "str",
      prose: `Split the text at its spaces into words (lower-case letters, no empty words). With the words: ${prose}. Return the result.`,
      terse: `words,${terse}`,
      python: ["words = text.split()", ...python],
      typescript: [`let words = text.split(" ").filter((word) => word !== "");`, ...typescript],
      solve: (text) => apply(split(text)),
      lesser: shorter.map((partly) => (text: string) => partly(split(text))),
      draw: (stream) => [drawSentence(stream)],
      edges: [[""], ["salt"]],
    });
  },
};
