import type { RandomStream } from "@mrlm/kit";
import type { StepMaker } from "./step.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** Draws letters, with some repeated, digits and spaces. */
export function drawText(random: RandomStream): string {
  const alphabet = random.pick(["abcde", "aeiourst", LETTERS, `${LETTERS}AEIOUXYZ`, `abc ABC 123`]);
  return Array.from({ length: random.integer(1, 12) }, () => random.pick([...alphabet])).join("");
}

/** Draws a few different letters, in order. */
export function drawLetters(random: RandomStream, count: number): string {
  return random
    .shuffle([...LETTERS])
    .slice(0, count)
    .toSorted()
    .join("");
}

/** Steps from a text to a text. */
export const textSteps: readonly StepMaker<string>[] = [
  () => ({
    prose: "reverse it",
    terse: "reverse",
    python: (t) => `${t}[::-1]`,
    typescript: (t) => `[...${t}].reverse().join("")`,
    apply: (t) => [...t].toReversed().join(""),
  }),
  () => ({
    prose: "turn it into upper case",
    terse: "upper",
    python: (t) => `${t}.upper()`,
    typescript: (t) => `${t}.toUpperCase()`,
    apply: (t) => t.toUpperCase(),
  }),
  () => ({
    prose: "swap upper and lower case",
    terse: "swapcase",
    python: (t) => `${t}.swapcase()`,
    typescript: (t) => `[...${t}].map((c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join("")`,
    apply: (t) => t.replace(/[a-z]|([A-Z])/g, (c, upper) => (upper ? c.toLowerCase() : c.toUpperCase())),
  }),
  (random) => {
    const set = drawLetters(random, random.integer(2, 5));
    return {
      prose: `remove the letters ${[...set].join(", ")} in either case`,
      terse: `drop ${set}`,
      python: (t) => `"".join(c for c in ${t} if c.lower() not in "${set}")`,
      typescript: (t) => `[...${t}].filter((c) => !"${set}".includes(c.toLowerCase())).join("")`,
      apply: (t) => t.replaceAll(new RegExp(`[${set}]`, "gi"), ""),
    };
  },
  (random) => {
    const k = random.integer(2, 4);
    return {
      prose: `repeat each character ${k} times in place`,
      terse: `each*${k}`,
      python: (t) => `"".join(c * ${k} for c in ${t})`,
      typescript: (t) => `[...${t}].map((c) => c.repeat(${k})).join("")`,
      apply: (t) => t.replaceAll(/[^]/g, (c) => c.repeat(k)),
    };
  },
  (random) => {
    const [a, b] = random.shuffle([...LETTERS.slice(0, 20)]) as [string, string];
    return {
      prose: `replace every "${a}" by "${b}"`,
      terse: `${a}to${b}`,
      python: (t) => `${t}.replace("${a}", "${b}")`,
      typescript: (t) => `${t}.replaceAll("${a}", "${b}")`,
      apply: (t) => t.split(a).join(b),
    };
  },
  (random) => {
    const k = random.integer(2, 4);
    return {
      prose: `keep its first character and every ${k === 2 ? "second" : k === 3 ? "third" : "fourth"} one after that`,
      terse: `every ${k}`,
      python: (t) => `${t}[::${k}]`,
      typescript: (t) => `[...${t}].filter((_, i) => i % ${k} === 0).join("")`,
      apply: (t) => t.replaceAll(new RegExp(`([^])[^]{0,${k - 1}}`, "g"), "$1"),
    };
  },
  (random) => {
    const k = random.integer(1, 5);
    const count = k === 1 ? "its first character" : `its first ${k} characters`;
    return {
      prose: `move ${count} to the end`,
      terse: `rotate ${k}`,
      python: (t) => `${t}[${k}:] + ${t}[:${k}]`,
      typescript: (t) => `${t}.slice(${k}) + ${t}.slice(0, ${k})`,
      apply: (t) =>
        [...t]
          .slice(k)
          .concat([...t].slice(0, k))
          .join(""),
    };
  },
  (random) => {
    const k = random.integer(3, 9);
    return {
      prose: `keep no more than its last ${k} characters`,
      terse: `last ${k}`,
      python: (t) => `${t}[-${k}:]`,
      typescript: (t) => `${t}.slice(-${k})`,
      apply: (t) => t.substring(t.length - k),
    };
  },
  () => ({
    prose: "sort its characters by their code",
    terse: "sort",
    python: (t) => `"".join(sorted(${t}))`,
    typescript: (t) => `[...${t}].sort().join("")`,
    apply: (t) => [...t].toSorted((a, b) => (a.codePointAt(0) as number) - (b.codePointAt(0) as number)).join(""),
  }),
];
