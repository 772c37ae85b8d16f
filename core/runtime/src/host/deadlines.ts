/** Phases of an environment's work that have deadlines of their own. */
export type Phase = "setup" | "step" | "score" | "close";

/** Milliseconds by phase. */
export type Deadlines = Readonly<Record<Phase, number>>;

/** What holds where neither the host's owner nor the environment says otherwise. */
export const DEFAULT_DEADLINES: Deadlines = { setup: 60_000, step: 60_000, score: 30_000, close: 10_000 };

/** An environment's own deadlines over the host's. */
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
