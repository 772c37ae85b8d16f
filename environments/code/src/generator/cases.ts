import type { RandomStream } from "@mrlm/kit";
import type { Sketch } from "./sketch.ts";
import type { Value } from "./values.ts";

/** Arguments of a function with its result. */
export interface Case {
  readonly given: readonly Value[];
  readonly result: Value;
}

/** Maximal number of draws for one case before equal arguments are allowed. */
const MAX_DRAWS = 50;
/** Largest share of the cases that a constant function may pass. */
const MOST_ALIKE = 0.6;

/**
 * Draws `count` cases with different arguments, the edge cases last. Returns `undefined` for weak cases: too many have equal results or return
 * their argument, or the hidden ones do not distinguish the function from one that omits a part of it.
 * @param shown number of cases, from the first, that the problem shows
 */
export function drawCases(
  sketch: Sketch,
  random: RandomStream,
  count: number,
  shown: number,
): readonly Case[] | undefined {
  const cases = new Map<string, Case>();
  const add = (given: readonly Value[]): void => {
    const key = JSON.stringify(given);
    if (!cases.has(key)) cases.set(key, { given, result: sketch.solve(...given) });
  };
  for (
    let draw = 0;
    draw < count * MAX_DRAWS && cases.size < count - Math.min(sketch.edges.length, count - shown - 1);
    draw++
  )
    add(sketch.draw(random));
  for (const edge of sketch.edges) if (cases.size < count) add(edge);
  const all = [...cases.values()];
  const results = all.map(({ result }) => JSON.stringify(result));
  const alike = Math.max(...results.map((result) => results.filter((other) => other === result).length));
  const unchanged = all.filter(({ given }, i) => JSON.stringify(given[0]) === results[i]).length;
  const isExcluded = (lesser: Sketch["lesser"][number]): boolean =>
    all.some(({ given }, i) => i >= shown && JSON.stringify(lesser(...given)) !== results[i]);
  return Math.max(alike, unchanged) <= MOST_ALIKE * all.length && sketch.lesser.every(isExcluded) ? all : undefined;
}
