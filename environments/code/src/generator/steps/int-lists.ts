import type { RandomStream } from "@mrlm/kit";
import type { Step, StepMaker } from "./step.ts";

export type Integers = readonly number[];

/** Draws integers from 0 to 99, some of them repeated. */
export function drawIntegers(random: RandomStream, least = 1, most = 9): number[] {
  const high = random.pick([9, 30, 99]);
  return Array.from({ length: random.integer(least, most) }, () => random.integer(0, high));
}

/** Steps from a list of integers that are at least 0 to another such list. */
export const listSteps: readonly StepMaker<Integers>[] = [
  (random) => {
    const [k, keep] = [random.integer(2, 7), random.next() < 0.5];
    return {
      prose: `${keep ? "keep" : "drop"} the numbers that are divisible by ${k}`,
      terse: `${keep ? "" : "not "}/${k}`,
      python: (x) => `[n for n in ${x} if n % ${k} ${keep ? "==" : "!="} 0]`,
      typescript: (x) => `${x}.filter((n) => n % ${k} ${keep ? "===" : "!=="} 0)`,
      apply: (x) => x.filter((n) => Number.isInteger(n / k) === keep),
    };
  },
  (random) => {
    const [k, above] = [random.integer(5, 60), random.next() < 0.5];
    return {
      prose: `keep the numbers ${above ? "above" : "below"} ${k}`,
      terse: `${above ? ">" : "<"}${k}`,
      python: (x) => `[n for n in ${x} if n ${above ? ">" : "<"} ${k}]`,
      typescript: (x) => `${x}.filter((n) => n ${above ? ">" : "<"} ${k})`,
      apply: (x) => x.filter((n) => (above ? n > k : n < k)),
    };
  },
  (random) => {
    const k = random.integer(2, 9);
    return {
      prose: `multiply each number by ${k}`,
      terse: `*${k}`,
      python: (x) => `[n * ${k} for n in ${x}]`,
      typescript: (x) => `${x}.map((n) => n * ${k})`,
      apply: (x) => x.map((n) => n * k),
    };
  },
  (random) => {
    const k = random.integer(1, 30);
    return {
      prose: `add ${k} to each number`,
      terse: `+${k}`,
      python: (x) => `[n + ${k} for n in ${x}]`,
      typescript: (x) => `${x}.map((n) => n + ${k})`,
      apply: (x) => x.map((n) => n + k),
    };
  },
  (random) => {
    const k = random.integer(3, 20);
    return {
      prose: `replace each number by its remainder when divided by ${k}`,
      terse: `%${k}`,
      python: (x) => `[n % ${k} for n in ${x}]`,
      typescript: (x) => `${x}.map((n) => n % ${k})`,
      apply: (x) => x.map((n) => n % k),
    };
  },
  (random) => {
    const k = random.integer(1, 4);
    const count = k === 1 ? "first number" : `first ${k} numbers`;
    return {
      prose: `drop the ${count}`,
      terse: `skip ${k}`,
      python: (x) => `${x}[${k}:]`,
      typescript: (x) => `${x}.slice(${k})`,
      apply: (x) => x.filter((_, i) => i >= k),
    };
  },
  (random) => {
    const k = random.integer(2, 3);
    return {
      prose: `keep the first number and every ${k === 2 ? "second" : "third"} one after that`,
      terse: `every ${k}`,
      python: (x) => `${x}[::${k}]`,
      typescript: (x) => `${x}.filter((_, i) => i % ${k} === 0)`,
      apply: (x) => Array.from({ length: Math.ceil(x.length / k) }, (_, i) => x[i * k] as number),
    };
  },
  () => ({
    prose: "reverse the list",
    terse: "reverse",
    python: (x) => `${x}[::-1]`,
    typescript: (x) => `[...${x}].reverse()`,
    apply: (x) => x.toReversed(),
  }),
  () => ({
    prose: "sort the list in ascending order",
    terse: "sort",
    python: (x) => `sorted(${x})`,
    typescript: (x) => `[...${x}].sort((a, b) => a - b)`,
    apply: (x) => x.toSorted((a, b) => a - b),
  }),
  () => ({
    prose: "drop numbers that came before",
    terse: "unique",
    python: (x) => `list(dict.fromkeys(${x}))`,
    typescript: (x) => `[...new Set(${x})]`,
    apply: (x) => x.filter((n, i) => x.indexOf(n) === i),
  }),
  () => ({
    prose: "replace the list by its running totals",
    terse: "totals",
    python: (x) => `[sum(${x}[:i + 1]) for i in range(len(${x}))]`,
    typescript: (x) => `${x}.map((_, i) => ${x}.slice(0, i + 1).reduce((sum, n) => sum + n, 0))`,
    apply: (x) => x.reduce<number[]>((totals, n) => [...totals, (totals.at(-1) ?? 0) + n], []),
  }),
];

/** Steps from a list to one number. */
export const listEnds: readonly Step<Integers, number>[] = [
  {
    prose: "add up the numbers",
    terse: "sum",
    python: (x) => `sum(${x})`,
    typescript: (x) => `${x}.reduce((sum, n) => sum + n, 0)`,
    apply: sumOf,
  },
  {
    prose: "count the numbers",
    terse: "count",
    python: (x) => `len(${x})`,
    typescript: (x) => `${x}.length`,
    apply: (x) => x.reduce((count) => count + 1, 0),
  },
  {
    prose: "take the largest number (0 if there is none)",
    terse: "max",
    python: (x) => `max(${x}, default=0)`,
    typescript: (x) => `Math.max(0, ...${x})`,
    apply: (x) => x.toSorted((a, b) => b - a)[0] ?? 0,
  },
  {
    prose: "take the smallest number (0 if there is none)",
    terse: "min",
    python: (x) => `min(${x}, default=0)`,
    typescript: (x) => `${x}.length > 0 ? Math.min(...${x}) : 0`,
    apply: (x) => x.toSorted((a, b) => a - b)[0] ?? 0,
  },
  {
    prose: "add up the numbers with alternating signs, the first one positive",
    terse: "alternate",
    python: (x) => `sum(${x}[::2]) - sum(${x}[1::2])`,
    typescript: (x) => `${x}.reduce((sum, n, i) => (i % 2 === 0 ? sum + n : sum - n), 0)`,
    apply: (x) => sumOf(x.map((n, i) => n * (-1) ** i)),
  },
];

function sumOf(numbers: Integers): number {
  let sum = 0;
  for (const n of numbers) sum += n;
  return sum;
}
