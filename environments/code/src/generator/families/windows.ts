import type { RandomStream } from "@mrlm/kit";
import { type Family, type Sketch, sketch, type TypedSketch } from "../sketch.ts";
import { drawIntegers, type Integers } from "../steps/int-lists.ts";

type Part = Pick<TypedSketch<[Integers]>, "name" | "prose" | "terse" | "python" | "typescript" | "solve" | "returns">;

const ofList = (part: Part): Sketch =>
  sketch<[Integers]>({
    parameters: [["numbers", "ints"]],
    draw: (random) => [drawIntegers(random, 2, 10)],
    edges: [[[]], [[4]]],
    ...part,
  });
const sum = (numbers: Integers): number => numbers.reduce((total, n) => total + n, 0);
const windowsOf = (numbers: Integers, k: number): Integers[] =>
  numbers.map((_, i) => numbers.slice(i, i + k)).filter(({ length }) => length === k);

function slidingSums(random: RandomStream): Sketch {
  const [k, m] = [random.integer(2, 4), random.integer(3, 30)];
  return ofList({
    name: "window_sums",
    returns: "ints",
    prose: `Return the list of the sums of every ${k} neighbouring numbers, from left to right, each replaced by its remainder when divided by ${m}. The list is empty if there are fewer than ${k} numbers.`,
    terse: `sums of ${k},%${m}`,
    python: [`return [sum(numbers[i:i + ${k}]) % ${m} for i in range(len(numbers) - ${k - 1})]`],
    typescript: [
      "const sums: number[] = [];",
      `for (let i = 0; i + ${k} <= numbers.length; i++) {`,
      `    sums.push(numbers.slice(i, i + ${k}).reduce((total, n) => total + n, 0) % ${m});`,
      "}",
      "return sums;",
    ],
    solve: (numbers) => windowsOf(numbers, k).map((window) => sum(window) % m),
  });
}

function bestWindow(random: RandomStream): Sketch {
  const [k, isSpread, scale] = [random.integer(2, 5), random.next() < 0.5, random.integer(1, 6)];
  const what = isSpread ? "difference between the largest and the smallest" : "sum";
  return ofList({
    name: "best_window",
    returns: "int",
    prose: `Among all groups of ${k} neighbouring numbers, find the largest ${what} of a group. Return ${scale === 1 ? "it" : `${scale} times it`}, or 0 if there are fewer than ${k} numbers.`,
    terse: `${scale}*max ${isSpread ? "spread" : "sum"} of ${k}`,
    python: [
      `windows = [numbers[i:i + ${k}] for i in range(len(numbers) - ${k - 1})]`,
      `return ${scale} * max((${isSpread ? "max(w) - min(w)" : "sum(w)"} for w in windows), default=0)`,
    ],
    typescript: [
      "let best = 0;",
      `for (let i = 0; i + ${k} <= numbers.length; i++) {`,
      `    const w = numbers.slice(i, i + ${k});`,
      `    best = Math.max(best, ${isSpread ? "Math.max(...w) - Math.min(...w)" : "w.reduce((total, n) => total + n, 0)"});`,
      "}",
      `return ${scale} * best;`,
    ],
    solve: (numbers) =>
      scale *
      Math.max(
        0,
        ...windowsOf(numbers, k).map((window) => (isSpread ? Math.max(...window) - Math.min(...window) : sum(window))),
      ),
  });
}

function pairs(random: RandomStream): Sketch {
  const [k, isSum] = [random.integer(2, 12), random.next() < 0.5];
  const [remainder, far] = [random.integer(0, k - 1), random.integer(1, 3)];
  const value = (a: number, b: number): number => (isSum ? a + b : Math.abs(a - b)) % k;
  return ofList({
    name: "count_pairs",
    returns: "int",
    prose: `Count the pairs of positions i < j, at least ${far} apart, at which the ${isSum ? "sum" : "absolute difference"} of the two numbers leaves the remainder ${remainder} when divided by ${k}.`,
    terse: `pairs j-i>=${far},${isSum ? "sum" : "diff"}%${k}=${remainder}`,
    python: [
      "count = 0",
      "for i in range(len(numbers)):",
      `    for j in range(i + ${far}, len(numbers)):`,
      `        if ${isSum ? "(numbers[i] + numbers[j])" : "abs(numbers[i] - numbers[j])"} % ${k} == ${remainder}:`,
      "            count += 1",
      "return count",
    ],
    typescript: [
      "let count = 0;",
      "for (let i = 0; i < numbers.length; i++) {",
      `    for (let j = i + ${far}; j < numbers.length; j++) {`,
      `        if (${isSum ? "(numbers[i] + numbers[j])" : "Math.abs(numbers[i] - numbers[j])"} % ${k} === ${remainder}) count++;`,
      "    }",
      "}",
      "return count;",
    ],
    solve: (numbers) =>
      sum(numbers.map((a, i) => numbers.slice(i + far).filter((b) => value(a, b) === remainder).length)),
  });
}

function longestRun(random: RandomStream): Sketch {
  const [step, scale] = [random.integer(2, 40), random.integer(1, 9)];
  const run = (numbers: Integers): number => {
    const broken = numbers.findIndex((n, i) => i > 0 && Math.abs(n - (numbers[i - 1] as number)) > step);
    return broken < 0 ? numbers.length : broken;
  };
  return ofList({
    name: "longest_run",
    returns: "int",
    prose: `A run is a stretch of neighbouring numbers in which each differs from the one before by at most ${step}. Return ${scale === 1 ? "the length" : `${scale} times the length`} of the longest run, 0 for an empty list.`,
    terse: `${scale}*run diff<=${step}`,
    python: [
      "longest = run = 0",
      "for i, n in enumerate(numbers):",
      `    run = run + 1 if i > 0 and abs(n - numbers[i - 1]) <= ${step} else 1`,
      "    longest = max(longest, run)",
      `return ${scale} * longest`,
    ],
    typescript: [
      "let [longest, run] = [0, 0];",
      "numbers.forEach((n, i) => {",
      `    run = i > 0 && Math.abs(n - numbers[i - 1]) <= ${step} ? run + 1 : 1;`,
      "    longest = Math.max(longest, run);",
      "});",
      `return ${scale} * longest;`,
    ],
    solve: (numbers) => scale * Math.max(0, ...numbers.map((_, i) => run(numbers.slice(i)))),
  });
}

/** Neighbours and pairs in a list. */
export const windows: Family = {
  name: "windows",
  generate: (random, difficulty) =>
    random.pick(
      difficulty < 3
        ? [slidingSums, bestWindow]
        : difficulty < 6
          ? [slidingSums, bestWindow, longestRun]
          : [bestWindow, longestRun, pairs],
    )(random),
};
