import type { RandomStream } from "@mrlm/spec";
import type { Sketch } from "./sketch.ts";
import type { Value } from "./values.ts";

/** Arguments and what the function returns for them. */
export interface Case {
  readonly given: readonly Value[];
  readonly result: Value;
}

/** Draws for one case before the same arguments may come twice. */
const MAX_DRAWS = 50;
/** Largest share of the cases that a function of one constant result may pass. */
const MOST_ALIKE = 0.6;

/**
 * Draws `count` cases with different arguments, the edges last. `undefined` where they would prove little: too many have the same result, or
 * return their argument, or the hidden ones cannot tell the function from one that leaves a part of it out.
 * @param shown how many of the first cases the problem shows
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
  const isTold = (lesser: Sketch["lesser"][number]): boolean =>
    all.some(({ given }, i) => i >= shown && JSON.stringify(lesser(...given)) !== results[i]);
  return Math.max(alike, unchanged) <= MOST_ALIKE * all.length && sketch.lesser.every(isTold) ? all : undefined;
}
