/** Phases of an environment that have their own deadlines. */
export type Phase = "setup" | "step" | "score" | "close";

/** Deadlines in milliseconds by phase. */
export type Deadlines = Readonly<Record<Phase, number>>;

/** Default deadlines. The host's options and the environment can replace them. */
export const DEFAULT_DEADLINES: Deadlines = { setup: 60_000, step: 60_000, score: 30_000, close: 10_000 };

/** Merges an environment's own deadlines with the host's. The environment's take precedence. */
export function deadlinesOf(
  own:
    | { readonly setupMs?: number; readonly stepMs?: number; readonly scoreMs?: number; readonly closeMs?: number }
    | undefined,
  defaults: Deadlines,
): Deadlines {
  return {
    setup: own?.setupMs ?? defaults.setup,
    step: own?.stepMs ?? defaults.step,
    score: own?.scoreMs ?? defaults.score,
    close: own?.closeMs ?? defaults.close,
  };
}
