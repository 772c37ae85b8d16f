import type { RandomStream } from "@mrlm/kit";
import { type Family, sketch } from "../sketch.ts";
import { chain, drawSteps, type Step, type StepMaker } from "../steps/step.ts";

type Rows = readonly (readonly number[])[];

const transpose = (rows: Rows): number[][] => (rows[0] ?? []).map((_, i) => rows.map((row) => row[i] as number));

const rowSteps: readonly StepMaker<Rows>[] = [
  () => ({
    prose: "swap rows and columns",
    terse: "transpose",
    python: (m) => `[list(column) for column in zip(*${m})]`,
    typescript: (m) => `${m}[0].map((_, i) => ${m}.map((row) => row[i]))`,
    apply: transpose,
  }),
  () => ({
    prose: "reverse each row",
    terse: "mirror",
    python: (m) => `[row[::-1] for row in ${m}]`,
    typescript: (m) => `${m}.map((row) => [...row].reverse())`,
    apply: (m) => m.map((row) => row.toReversed()),
  }),
  () => ({
    prose: "reverse the order of the rows",
    terse: "flip",
    python: (m) => `${m}[::-1]`,
    typescript: (m) => `[...${m}].reverse()`,
    apply: (m) => m.toReversed(),
  }),
  () => ({
    prose: "sort each row in ascending order",
    terse: "sort rows",
    python: (m) => `[sorted(row) for row in ${m}]`,
    typescript: (m) => `${m}.map((row) => [...row].sort((a, b) => a - b))`,
    apply: (m) => m.map((row) => row.toSorted((a, b) => a - b)),
  }),
  (random) => {
    const k = random.integer(2, 9);
    return {
      prose: `multiply every number by ${k}`,
      terse: `*${k}`,
      python: (m) => `[[n * ${k} for n in row] for row in ${m}]`,
      typescript: (m) => `${m}.map((row) => row.map((n) => n * ${k}))`,
      apply: (m) => m.map((row) => row.map((n) => n * k)),
    };
  },
  (random) => {
    const k = random.integer(3, 12);
    return {
      prose: `replace every number by its remainder when divided by ${k}`,
      terse: `%${k}`,
      python: (m) => `[[n % ${k} for n in row] for row in ${m}]`,
      typescript: (m) => `${m}.map((row) => row.map((n) => n % ${k}))`,
      apply: (m) => m.map((row) => row.map((n) => n % k)),
    };
  },
  (random) => {
    const k = random.integer(10, 60);
    return {
      prose: `replace every number above ${k} by ${k}`,
      terse: `max ${k}`,
      python: (m) => `[[min(n, ${k}) for n in row] for row in ${m}]`,
      typescript: (m) => `${m}.map((row) => row.map((n) => Math.min(n, ${k})))`,
      apply: (m) => m.map((row) => row.map((n) => (n > k ? k : n))),
    };
  },
];

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
const ends: readonly Step<Rows, number | readonly number[]>[] = [
  {
    prose: "return the list of the sums of the rows",
    terse: "row sums",
    python: (m) => `[sum(row) for row in ${m}]`,
    typescript: (m) => `${m}.map((row) => row.reduce((total, n) => total + n, 0))`,
    apply: (m) => m.map(sum),
  },
  {
    prose: "return the list of the largest numbers of the columns",
    terse: "column max",
    python: (m) => `[max(column) for column in zip(*${m})]`,
    typescript: (m) => `${m}[0].map((_, i) => Math.max(...${m}.map((row) => row[i])))`,
    apply: (m) => transpose(m).map((column) => Math.max(...column)),
  },
  {
    prose: "return the sum of the numbers whose row and column, counted from 0, are equal",
    terse: "trace",
    python: (m) => `sum(row[i] for i, row in enumerate(${m}) if i < len(row))`,
    typescript: (m) => `${m}.reduce((total, row, i) => total + (row[i] ?? 0), 0)`,
    apply: (m) => sum(m.flatMap((row, i) => row.filter((_, j) => i === j))),
  },
  {
    prose: "return the list of all numbers, row by row",
    terse: "flat",
    python: (m) => `[n for row in ${m} for n in row]`,
    typescript: (m) => `${m}.flat()`,
    apply: (m) => m.reduce<number[]>((all, row) => all.concat(row), []),
  },
  {
    prose: "return the sum of the numbers in the first and the last column (counted once if they are the same)",
    terse: "edges",
    python: (m) => `sum(row[0] + (row[-1] if len(row) > 1 else 0) for row in ${m})`,
    typescript: (m) => `${m}.reduce((total, row) => total + row[0] + (row.length > 1 ? row[row.length - 1] : 0), 0)`,
    apply: (m) => sum(m.flatMap((row) => row.filter((_, i) => i === 0 || i === row.length - 1))),
  },
];

/** Rows of numbers. */
export const matrices: Family = {
  name: "matrices",
  generate(random, difficulty) {
    const end = random.pick(ends);
    const { prose, terse, python, typescript, apply, shorter } = chain("rows", [
      ...drawSteps(random, rowSteps, Math.ceil(difficulty / 2.5)),
      end,
    ]);
    return sketch<[Rows]>({
      name: "process_rows",
      parameters: [["rows", "rows"]],
      returns: end.prose.includes("list") ? "ints" : "int",
      prose: `The rows are lists of integers of at least 0, all of the same length; there is at least one row and one column. ${prose.charAt(0).toUpperCase()}${prose.slice(1)}.`,
      terse,
      python,
      typescript,
      solve: apply,
      lesser: shorter,
      draw: (stream) => [drawRows(stream)],
      edges: [[[[0]]], [[[7, 3]]]],
    });
  },
};

function drawRows(random: RandomStream): Rows {
  const width = random.integer(1, 4);
  const high = random.pick([9, 80]);
  return Array.from({ length: random.integer(1, 4) }, () =>
    Array.from({ length: width }, () => random.integer(0, high)),
  );
}
