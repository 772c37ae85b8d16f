/** Divides items into `parts` minibatches of nearly equal length, in their order; one optimizer step uses one minibatch. Empty ones are left out. */
export function minibatches<T>(items: readonly T[], parts: number): T[][] {
  const bound = (part: number): number => Math.round((items.length * part) / parts);
  return Array.from({ length: parts }, (_, part) => items.slice(bound(part), bound(part + 1))).filter(
    (run) => run.length > 0,
  );
}
