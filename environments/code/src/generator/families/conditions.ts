import { type Family, sketch } from "../sketch.ts";

const LABELS = [
  "low",
  "mid",
  "high",
  "top",
  "red",
  "blue",
  "green",
  "gold",
  "iron",
  "salt",
  "moon",
  "star",
  "oak",
  "elm",
  "fox",
  "owl",
];

/** A word for a number, by thresholds or by divisibility; harder ones have more cases. */
export const conditions: Family = {
  name: "conditions",
  generate(random, difficulty) {
    const cases = 1 + Math.ceil(difficulty / 2);
    const labels = random.shuffle(LABELS).slice(0, cases + 1);
    const otherwise = labels[cases] as string;
    const byThreshold = random.next() < 0.5;
    const bounds = byThreshold
      ? distinct(cases, () => random.integer(5, 95)).toSorted((a, b) => a - b)
      : distinct(cases, () => random.integer(2, 12)).toSorted((a, b) => b - a);
    const holds = (n: number, bound: number): boolean => (byThreshold ? n < bound : n % bound === 0);
    const test = (bound: number, same: string): string => (byThreshold ? `n < ${bound}` : `n % ${bound} ${same} 0`);
    const words = bounds.map(
      (bound, i) =>
        `${JSON.stringify(labels[i])} if n is ${byThreshold ? `less than ${bound}` : `divisible by ${bound}`}`,
    );
    return sketch<[number]>({
      name: byThreshold ? "grade" : "label",
      parameters: [["n", "int"]],
      returns: "str",
      prose: `Return ${words.join(", else ")}, and ${JSON.stringify(otherwise)} otherwise.`,
      terse: [...bounds.map((bound, i) => `${byThreshold ? "<" : "/"}${bound} ${labels[i]}`), otherwise].join(","),
      python: [
        ...bounds.flatMap((bound, i) => [`if ${test(bound, "==")}:`, `    return ${JSON.stringify(labels[i])}`]),
        `return ${JSON.stringify(otherwise)}`,
      ],
      typescript: [
        ...bounds.map((bound, i) => `if (${test(bound, "===")}) return ${JSON.stringify(labels[i])};`),
        `return ${JSON.stringify(otherwise)};`,
      ],
      solve: (n) => labels[bounds.findIndex((bound) => holds(n, bound))] ?? otherwise,
      // Values near the bounds, which reveal most mistakes.
      draw: (stream) => [
        byThreshold
          ? Math.max(0, stream.pick([...bounds, 100]) + stream.integer(-2, 2))
          : stream.pick([1, ...bounds]) * stream.integer(1, 12),
      ],
      edges: [[0], [1]],
    });
  },
};

function distinct(count: number, draw: () => number): number[] {
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(draw());
  return [...drawn];
}
