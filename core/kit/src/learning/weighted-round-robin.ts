/** Weighted round robin: selects sources in proportion to their weights, without randomness. The next source is the one that is furthest below its share. */
export interface WeightedRoundRobin {
  /** Selects a source and returns its index. */
  next(): number;
  /** Number of selections of each source: the state to resume from. */
  drawn(): readonly number[];
  restore(drawn: readonly number[]): void;
}

/** @param weights relative weights > 0 */
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
