/**
 * Returns Kendall's tau-b of pairs, which accounts for ties (Kendall 1945), in O(n log n) (Knight 1966); `undefined` if all values of one side are equal.
 */
export function kendallTau(pairs: readonly (readonly [number, number])[]): number | undefined {
  const sorted = [...pairs].sort(([x, y], [u, v]) => x - u || y - v);
  const count = (size: number): number => (size * (size - 1)) / 2;
  const tiesOf = (keys: readonly string[]): number => {
    const sizes = new Map<string, number>();
    for (const key of keys) sizes.set(key, (sizes.get(key) ?? 0) + 1);
    return [...sizes.values()].reduce((sum, size) => sum + count(size), 0);
  };
  const all = count(sorted.length);
  // Adding 0 makes -0 equal to 0.
  const tiesX = tiesOf(sorted.map(([x]) => String(x + 0)));
  const tiesY = tiesOf(sorted.map(([, y]) => String(y + 0)));
  const tiesBoth = tiesOf(sorted.map(([x, y]) => `${x + 0} ${y + 0}`));
  const discordant = inversions(sorted.map(([, y]) => y));
  const concordant = all - tiesX - tiesY + tiesBoth - discordant;
  const scale = Math.sqrt((all - tiesX) * (all - tiesY));
  return scale === 0 ? undefined : (concordant - discordant) / scale;
}

/** Counts pairs of places whose values are in descending order, by merge sort. */
function inversions(values: readonly number[]): number {
  let from = [...values];
  let to = [...values];
  let count = 0;
  for (let width = 1; width < values.length; width *= 2) {
    for (let start = 0; start < values.length; start += 2 * width) {
      const middle = Math.min(start + width, values.length);
      const end = Math.min(start + 2 * width, values.length);
      let left = start;
      let right = middle;
      for (let at = start; at < end; at++) {
        const takesRight = right < end && (left >= middle || (from[right] as number) < (from[left] as number));
        if (takesRight) count += middle - left;
        to[at] = from[takesRight ? right++ : left++] as number;
      }
    }
    [from, to] = [to, from];
  }
  return count;
}
