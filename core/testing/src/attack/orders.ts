/** Merges lists: one element of each in turn. */
export function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) =>
    lists.flatMap((list) => (i < list.length ? [list[i] as T] : [])),
  ).flat();
}

/** Returns the pairs of two lists, those of the first elements of both first. */
export function diagonal<A, B>(one: readonly A[], other: readonly B[]): [A, B][] {
  const pairs: [A, B][] = [];
  for (let sum = 0; sum < one.length + other.length - 1; sum++)
    for (let i = Math.max(0, sum - other.length + 1); i <= Math.min(sum, one.length - 1); i++)
      pairs.push([one[i] as A, other[sum - i] as B]);
  return pairs;
}
