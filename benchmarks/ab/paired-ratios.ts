/** Median of the ratios of paired measurements, with its interval. */
export interface Comparison {
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
}

/**
 * Returns how a figure is compared: `cost` where less is better, `rate` where more is. Undefined: the figure has no unit from which that follows.
 * @param name as benchmarks name them: the unit stands at the end, or before the variant that was measured (`steps_per_s_64`)
 */
export function kindOf(name: string): "cost" | "rate" | undefined {
  if (/_per_s(econd)?(_\w+)?$/.test(name)) return "rate";
  return /_(s|ms|us|seconds|mib|bytes)(_\w+)?$/.test(name) ? "cost" : undefined;
}

/**
 * Compares the pairs of a figure: ratios above 1 mean that the working tree is slower, or takes more, than the base.
 * @param pairs `[base, ours]`, in the order of the rounds
 */
export function compare(kind: "cost" | "rate", pairs: readonly (readonly [number, number])[]): Comparison {
  const ratios = pairs.map(([base, ours]) => (kind === "cost" ? ours / base : base / ours)).sort((a, b) => a - b);
  const at = (rank: number): number => ratios[rank] as number;
  const middle = (ratios.length - 1) / 2;
  const outside = ranksOutside(ratios.length);
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    lower: at(outside),
    upper: at(ratios.length - 1 - outside),
  };
}

/**
 * Ranks on each side that an interval of the median leaves out, so that it holds the median with at least 95 %. With fewer than six pairs it leaves out
 * none, and holds the median with less. Source: the sign test, as in Conover, "Practical Nonparametric Statistics", section 3.2.
 */
function ranksOutside(pairs: number): number {
  // The chance that at most `heads` of the pairs lie below the median.
  let [heads, term] = [0, 0.5 ** pairs];
  for (let chance = term; chance <= 0.025; chance += term) {
    heads++;
    term *= (pairs - heads + 1) / heads;
  }
  return Math.max(0, heads - 1);
}
