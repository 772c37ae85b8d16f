import type { RandomStream } from "@mrlm/kit";
import { type Family, sketch } from "../sketch.ts";
import { drawIntegers, type Integers, listSteps } from "../steps/int-lists.ts";
import { chain, drawSteps } from "../steps/step.ts";

interface Key {
  readonly prose: string;
  readonly terse: string;
  readonly python: string;
  typescript(n: string): string;
  value(n: number): number;
}

const KEYS: readonly ((random: RandomStream) => Key)[] = [
  (random) => {
    const k = random.integer(2, 9);
    return {
      prose: `their remainder when divided by ${k}`,
      terse: `%${k}`,
      python: `n % ${k}`,
      typescript: (n) => `${n} % ${k}`,
      value: (n) => n % k,
    };
  },
  (random) => {
    const k = random.integer(5, 60);
    return {
      prose: `their distance from ${k}`,
      terse: `|-${k}|`,
      python: `abs(n - ${k})`,
      typescript: (n) => `Math.abs(${n} - ${k})`,
      value: (n) => Math.max(n - k, k - n),
    };
  },
  () => ({
    prose: "the sum of their digits",
    terse: "digits",
    python: "sum(map(int, str(n)))",
    typescript: (n) => `[...String(${n})].reduce((sum, digit) => sum + Number(digit), 0)`,
    value: (n) => Array.from(String(n), Number).reduce((sum, digit) => sum + digit, 0),
  }),
  (random) => {
    const k = random.integer(3, 12);
    return {
      prose: `their quotient by ${k}, rounded down`,
      terse: `//${k}`,
      python: `n // ${k}`,
      typescript: (n) => `Math.floor(${n} / ${k})`,
      value: (n) => (n - (n % k)) / k,
    };
  },
];

/** Sorting by a computed key, with a rule for ties. */
export const sorting: Family = {
  name: "sorting",
  generate(random, difficulty) {
    const key = random.pick(KEYS)(random);
    const [up, tiesUp] = [random.next() < 0.6, random.next() < 0.5];
    const steps = drawSteps(random, listSteps.slice(0, 7), Math.floor(difficulty / 2.5));
    const sign = (ascending: boolean): string => (ascending ? "" : "-");
    const difference = `${up ? key.typescript("a") : key.typescript("b")} - ${up ? wrap(key.typescript("b")) : wrap(key.typescript("a"))}`;
    const sorted = {
      prose: `sort the numbers by ${key.prose} in ${up ? "ascending" : "descending"} order, the ${tiesUp ? "smaller" : "larger"} number first among equals`,
      terse: `sort ${sign(up)}${key.terse} ${sign(tiesUp)}n`,
      python: (x: string) => `sorted(${x}, key=lambda n: (${up ? key.python : `-(${key.python})`}, ${sign(tiesUp)}n))`,
      typescript: (x: string) => `[...${x}].sort((a, b) => ${difference} || ${tiesUp ? "a - b" : "b - a"})`,
      apply: (x: Integers) =>
        x.toSorted((a, b) => (up ? 1 : -1) * (key.value(a) - key.value(b)) || (tiesUp ? 1 : -1) * (a - b)),
    };
    const { prose, terse, python, typescript, apply, shorter } = chain("numbers", [...steps, sorted]);
    return sketch<[Integers]>({
      name: "order",
      parameters: [["numbers", "ints"]],
      returns: "ints",
      prose: `The numbers are integers from 0 to 99. ${prose.charAt(0).toUpperCase()}${prose.slice(1)}. Return the new list.`,
      terse,
      python,
      typescript,
      solve: apply,
      lesser: shorter,
      draw: (stream) => [drawIntegers(stream, 2, 9)],
      edges: [[[]], [[7]]],
    });
  },
};

function wrap(code: string): string {
  return /^[\w.]+\(/.test(code) || code.startsWith("[") ? code : `(${code})`;
}
