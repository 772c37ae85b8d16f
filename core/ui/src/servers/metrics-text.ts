export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads metrics in the text format 0.0.4 of Prometheus. Lines of another form are passed over. */
export function readMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name, labels = "", written = ""] = LINE.exec(line.trim()) ?? [];
    const value = Number(written.replace("Inf", "Infinity"));
    if (name === undefined || line.startsWith("#") || (Number.isNaN(value) && written !== "NaN")) return [];
    const pairs = Array.from(labels.matchAll(LABEL), ([, label, text = ""]) => [label, unescaped(text)]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value }];
  });
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
}

/**
 * Returns a quantile of a cumulative histogram, by linear interpolation within its bucket, as `histogram_quantile` of PromQL does. A quantile in the last
 * bucket is the largest finite bound. `undefined` without an observation.
 * @param buckets upper bounds with the number of observations up to each
 */
export function quantileOf(
  buckets: readonly (readonly [bound: number, count: number])[],
  q: number,
): number | undefined {
  const sorted = buckets.toSorted(([one], [other]) => one - other);
  const total = sorted.at(-1)?.[1] ?? 0;
  if (total === 0) return undefined;
  const rank = q * total;
  const at = sorted.findIndex(([, count]) => count >= rank);
  const [bound, count] = sorted[at] ?? [0, 0];
  const [lower, before] = sorted[at - 1] ?? [0, 0];
  if (bound === Number.POSITIVE_INFINITY) return lower;
  return count === before ? bound : lower + ((bound - lower) * (rank - before)) / (count - before);
}
