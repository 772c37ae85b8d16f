import type { EpisodeStore } from "@mrlm/spec/host";

/** Operations whose results a run does not need at once. */
const BACKGROUND = ["refuse", "settle", "record", "announce", "mirror", "prune"] as const;
/** Operations that a run waits for. */
const AWAITED = ["open", "lease", "commit", "take", "abandon", "flush"] as const;

/**
 * Returns a store whose records do not delay the run. A store runs its operations in the order of their calls, so an awaited operation ends after
 * all earlier ones; it rejects with the first error of those.
 */
export function withBackgroundWrites(store: EpisodeStore): EpisodeStore {
  type Operation = (...args: readonly unknown[]) => Promise<unknown>;
  let failure: { readonly error: unknown } | undefined;
  const operationOf = (name: (typeof BACKGROUND | typeof AWAITED)[number]): Operation =>
    (store[name] as Operation).bind(store);
  const background = BACKGROUND.map((name) => {
    const operation = operationOf(name);
    return [
      name,
      async (...args: readonly unknown[]): Promise<void> => {
        operation(...args).catch((error: unknown) => (failure ??= { error }));
      },
    ];
  });
  const awaited = AWAITED.map((name) => {
    const operation = operationOf(name);
    return [
      name,
      async (...args: readonly unknown[]): Promise<unknown> => {
        const result = await operation(...args);
        if (failure !== undefined) throw failure.error;
        return result;
      },
    ];
  });
  return Object.assign(Object.create(store) as EpisodeStore, Object.fromEntries([...background, ...awaited]), {
    close: () => store.close(),
  });
}
