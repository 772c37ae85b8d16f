/** Takes turns among sources in exact proportion to their weights over time, without chance: always the one that is furthest behind its share. */
export interface WeightedRoundRobin {
  /** Index of the source whose turn it is. */
  next(): number;
  /** Turns that each has had: all that a continuation needs. */
  drawn(): readonly number[];
  restore(drawn: readonly number[]): void;
}

/** @param weights above 0, in any unit */
export function weightedRoundRobin(weights: readonly number[]): WeightedRoundRobin {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let drawn = weights.map(() => 0);
  return {
    next() {
      const turn = drawn.reduce((sum, each) => sum + each, 0) + 1;
      const behind = weights.map((weight, i) => (weight / total) * turn - (drawn[i] as number));
      const next = behind.indexOf(Math.max(...behind));
      drawn[next] = (drawn[next] as number) + 1;
      return next;
    },
    drawn: () => [...drawn],
    restore(before) {
      drawn = [...before];
    },
  };
}
