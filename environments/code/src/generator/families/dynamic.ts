import type { RandomStream } from "@mrlm/kit";
import { type Family, type Sketch, sketch } from "../sketch.ts";
import { drawIntegers, type Integers } from "../steps/int-lists.ts";

/** Draws some different numbers, in ascending order. */
function drawSet(random: RandomStream, count: number, low: number, high: number): number[] {
  const all = Array.from({ length: high - low + 1 }, (_, i) => low + i);
  return random
    .shuffle(all)
    .slice(0, count)
    .toSorted((a, b) => a - b);
}

const list = (numbers: Integers): string => numbers.join(", ");

function climbing(random: RandomStream, difficulty: number): Sketch {
  const sizes = drawSet(random, difficulty < 5 ? 2 : 3, 1, 6);
  const modulus = difficulty < 4 ? 0 : random.integer(100, 999);
  const ways = (n: number): number => (n < 0 ? 0 : n === 0 ? 1 : sizes.reduce((sum, size) => sum + ways(n - size), 0));
  const reduced = (code: string): string => (modulus === 0 ? code : `${code} % ${modulus}`);
  return sketch<[number]>({
    name: "count_ways",
    parameters: [["n", "int"]],
    returns: "int",
    prose: `In how many ways can n steps (n is at least 0) be climbed by strides of ${list(sizes)} steps, where the order of strides matters? Not climbing is the one way for n = 0.${modulus === 0 ? "" : ` Return the number of ways modulo ${modulus}.`}`,
    terse: `ways ${sizes.join(" ")}${modulus === 0 ? "" : `%${modulus}`}`,
    python: [
      "ways = [1] + [0] * n",
      "for i in range(1, n + 1):",
      `    ways[i] = sum(ways[i - size] for size in (${list(sizes)}) if size <= i)`,
      `return ${reduced("ways[n]")}`,
    ],
    typescript: [
      "const ways = [1];",
      `for (let i = 1; i <= n; i++) ways[i] = [${list(sizes)}].reduce((sum, size) => sum + (ways[i - size] ?? 0), 0);`,
      `return ${reduced("ways[n]")};`,
    ],
    solve: (n) => (modulus === 0 ? ways(n) : ways(n) % modulus),
    draw: (stream) => [stream.integer(1, 16)],
    edges: [[0], [1]],
  });
}

function coins(random: RandomStream, difficulty: number): Sketch {
  const values = drawSet(random, difficulty < 6 ? 3 : 4, 2, 15);
  const least = (n: number): number => {
    let reached = new Set([0]);
    for (let count = 0; count <= n; count++) {
      if (reached.has(n)) return count;
      reached = new Set([...reached].flatMap((sum) => values.map((value) => sum + value)).filter((sum) => sum <= n));
    }
    return -1;
  };
  return sketch<[number]>({
    name: "fewest_coins",
    parameters: [["amount", "int"]],
    returns: "int",
    prose: `Return the smallest number of coins that add up to the amount exactly (at least 0), with as many coins of ${list(values)} as wanted; -1 if it cannot be done.`,
    terse: `coins ${values.join(" ")}`,
    python: [
      "best = [0] + [None] * amount",
      "for i in range(1, amount + 1):",
      `    counts = [best[i - coin] + 1 for coin in (${list(values)}) if coin <= i and best[i - coin] is not None]`,
      "    best[i] = min(counts, default=None)",
      "return -1 if best[amount] is None else best[amount]",
    ],
    typescript: [
      "const best = [0];",
      "for (let i = 1; i <= amount; i++) {",
      `    best[i] = Math.min(...[${list(values)}].map((coin) => (best[i - coin] ?? Infinity) + 1));`,
      "}",
      "return best[amount] === Infinity ? -1 : best[amount];",
    ],
    solve: least,
    draw: (stream) => [stream.integer(1, 60)],
    edges: [[0], [1]],
  });
}

function apart(random: RandomStream): Sketch {
  const [gap, bonus] = [random.integer(1, 4), random.integer(0, 9)];
  const best = (numbers: Integers): number =>
    numbers.length === 0
      ? 0
      : Math.max(best(numbers.slice(1)), (numbers[0] as number) + bonus + best(numbers.slice(gap + 1)));
  const earned = bonus === 0 ? "" : ` + ${bonus}`;
  return sketch<[Integers]>({
    name: "best_choice",
    parameters: [["numbers", "ints"]],
    returns: "int",
    prose: `Choose some of the numbers (all at least 0) so that at least ${gap} ${gap === 1 ? "number lies" : "numbers lie"} between any two chosen ones. Each chosen number earns its value${bonus === 0 ? "" : ` plus ${bonus}`}. Return the most that can be earned, 0 for an empty list.`,
    terse: `choose gap ${gap},+${bonus}`,
    python: [
      "best = [0]",
      "for i, n in enumerate(numbers):",
      `    best.append(max(best[i], n${earned} + best[max(0, i - ${gap})]))`,
      "return best[-1]",
    ],
    typescript: [
      "const best = [0];",
      `numbers.forEach((n, i) => best.push(Math.max(best[i], n${earned} + best[Math.max(0, i - ${gap})])));`,
      "return best[numbers.length];",
    ],
    solve: best,
    draw: (stream) => [drawIntegers(stream, 2, 9)],
    edges: [[[]], [[5]]],
  });
}

function chainLength(random: RandomStream): Sketch {
  const [low, spread] = [random.integer(1, 4), random.integer(2, 20)];
  const longest = (numbers: Integers, last?: number): number =>
    numbers.reduce(
      (most, n, i) =>
        last === undefined || (n - last >= low && n - last <= low + spread)
          ? Math.max(most, 1 + longest(numbers.slice(i + 1), n))
          : most,
      0,
    );
  return sketch<[Integers]>({
    name: "longest_chain",
    parameters: [["numbers", "ints"]],
    returns: "int",
    prose: `A chain is a choice of numbers, in the order of the list, in which each is larger than the one before by at least ${low} and at most ${low + spread}. Return the length of the longest chain, 0 for an empty list.`,
    terse: `chain +${low}..${low + spread}`,
    python: [
      "best = []",
      "for i, n in enumerate(numbers):",
      `    best.append(1 + max((best[j] for j in range(i) if ${low} <= n - numbers[j] <= ${low + spread}), default=0))`,
      "return max(best, default=0)",
    ],
    typescript: [
      "const best: number[] = [];",
      `numbers.forEach((n, i) => best.push(1 + Math.max(0, ...best.filter((_, j) => j < i && n - numbers[j] >= ${low} && n - numbers[j] <= ${low + spread}))));`,
      "return Math.max(0, ...best);",
    ],
    solve: (numbers) => longest(numbers),
    draw: (stream) => [drawIntegers(stream, 3, 10)],
    edges: [[[]], [[3]]],
  });
}

/** Small problems of dynamic programming: counting ways, fewest coins, best choices, longest chains. */
export const dynamic: Family = {
  name: "dynamic",
  generate: (random, difficulty) =>
    random.pick(difficulty < 4 ? [climbing, coins] : [climbing, coins, apart, chainLength])(random, difficulty),
};
