import type { RandomStream } from "@mrlm/kit";
import { type Family, sketch } from "../sketch.ts";
import { drawWords } from "../steps/word-bank.ts";

type Strings = readonly string[];

interface Key {
  readonly prose: string;
  readonly terse: string;
  readonly python: string;
  readonly typescript: string;
  of(word: string): string;
}

const KEYS: readonly Key[] = [
  { prose: "the word itself", terse: "word", python: "word", typescript: "word", of: (word) => word },
  {
    prose: "its first letter",
    terse: "first",
    python: "word[0]",
    typescript: "word.charAt(0)",
    of: ([first]) => first as string,
  },
  {
    prose: "its last letter",
    terse: "last",
    python: "word[-1]",
    typescript: "word.charAt(word.length - 1)",
    of: (word) => word.at(-1) as string,
  },
  {
    prose: "its number of letters, written as a text",
    terse: "len",
    python: "str(len(word))",
    typescript: "String(word.length)",
    of: ({ length }) => `${length}`,
  },
];

const AMOUNTS = [
  { prose: "1", terse: "1", python: "1", typescript: "1", of: () => 1 },
  {
    prose: "the number of its letters",
    terse: "len",
    python: "len(word)",
    typescript: "word.length",
    of: (word: string) => word.length,
  },
  {
    prose: "the number of its vowels (a, e, i, o, u)",
    terse: "vowels",
    python: `sum(c in "aeiou" for c in word)`,
    typescript: `[...word].filter((c) => "aeiou".includes(c)).length`,
    of: (word: string) => word.replaceAll(/[^aeiou]/g, "").length,
  },
];

/** Dictionaries of totals by group. From difficulty 3, only some words and totals count. */
export const dictionaries: Family = {
  name: "dictionaries",
  generate(random: RandomStream, difficulty) {
    const [key, amount, factor] = [random.pick(KEYS), random.pick(AMOUNTS), random.integer(1, 5)];
    const longer = difficulty >= 3 ? random.integer(2, 4) : 0;
    const least = difficulty >= 5 ? random.integer(2, 6) * factor : 0;
    const modulus = difficulty >= 8 ? random.integer(4, 9) : 0;
    const times = factor === 1 ? "" : `${factor} times `;
    const added = (code: string): string => (factor === 1 ? code : `${factor} * ${code}`);
    return sketch<[Strings]>({
      name: "tally",
      parameters: [["words", "strs"]],
      returns: "counts",
      prose: [
        `Make a dictionary of totals. Each word${longer > 0 ? ` of more than ${longer} letters` : ""} adds ${times}${amount.prose} to the total of ${key.prose}.`,
        ...(modulus > 0 ? [`Then replace each total by its remainder when divided by ${modulus}.`] : []),
        ...(least > 0 ? [`Leave out totals that were less than ${least}${modulus > 0 ? " before that" : ""}.`] : []),
        "Return the dictionary. No word is empty.",
      ].join(" "),
      terse: [
        `${key.terse}:${factor}*${amount.terse}`,
        ...(longer > 0 ? [`len>${longer}`] : []),
        ...(least > 0 ? [`>=${least}`] : []),
        ...(modulus > 0 ? [`%${modulus}`] : []),
      ].join(","),
      python: [
        "totals = {}",
        "for word in words:",
        ...(longer > 0 ? [`    if len(word) <= ${longer}:`, "        continue"] : []),
        `    key = ${key.python}`,
        `    totals[key] = totals.get(key, 0) + ${added(amount.python)}`,
        least === 0 && modulus === 0
          ? "return totals"
          : `return {key: total${modulus > 0 ? ` % ${modulus}` : ""} for key, total in totals.items()${least > 0 ? ` if total >= ${least}` : ""}}`,
      ],
      typescript: [
        "const totals: Record<string, number> = {};",
        "for (const word of words) {",
        ...(longer > 0 ? [`    if (word.length <= ${longer}) continue;`] : []),
        `    const key = ${key.typescript};`,
        `    totals[key] = (totals[key] ?? 0) + ${added(amount.typescript)};`,
        "}",
        least === 0 && modulus === 0
          ? "return totals;"
          : `return Object.fromEntries(Object.entries(totals)${least > 0 ? `.filter(([, total]) => total >= ${least})` : ""}${modulus > 0 ? `.map(([key, total]) => [key, total % ${modulus}])` : ""});`,
      ],
      solve(given) {
        const counted = given.filter(({ length }) => length > longer);
        const totals = [...new Set(counted.map(key.of))].map(
          (name) =>
            [
              name,
              factor * counted.filter((word) => key.of(word) === name).reduce((sum, word) => sum + amount.of(word), 0),
            ] as const,
        );
        return Object.fromEntries(
          totals
            .filter(([, total]) => total >= least)
            .map(([name, total]) => [name, modulus > 0 ? total % modulus : total]),
        );
      },
      draw: (stream) => [drawWords(stream, 2)],
      edges: [[[]]],
    });
  },
};
