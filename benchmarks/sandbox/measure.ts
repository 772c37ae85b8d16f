/** Result of a measurement of many equal pieces of work. */
export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Runs `work` over the items, so many at a time, over and over for about `seconds`. */
export async function measure<T>(
  items: readonly T[],
  { parallel, seconds }: { readonly parallel: number; readonly seconds: number },
  work: (item: T) => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  const start = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (performance.now() - start < seconds * 1000) {
        const item = items[next++ % items.length] as T;
        const begun = performance.now();
        await work(item);
        times.push(performance.now() - begun);
      }
    }),
  );
  const elapsed = (performance.now() - start) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] as number;
  return { perSecond: round(times.length / elapsed), p50Ms: round(at(0.5)), p99Ms: round(at(0.99)) };
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
