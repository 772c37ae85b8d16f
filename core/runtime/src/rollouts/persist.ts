import { setTimeout as sleep } from "node:timers/promises";
import { MrlmError } from "@mrlm/spec";
import { EpisodeLost } from "./episode-lost.ts";

/** How to live with a server that comes and goes. */
export interface Reconnection {
  /** A server that is gone for longer ends the run. */
  readonly patienceMs: number;
  readonly firstDelayMs: number;
}

const MAX_DELAY_MS = 2_000;
/** Sessions that one piece of work may lose while the server can be reached. */
const MAX_LOSSES = 5;

/** Tries until it succeeds, fails for good, or patience ends. `onWait` is told before each wait. */
export async function persist<T>(
  work: () => Promise<T>,
  options: {
    readonly reconnection: Reconnection;
    readonly signal?: AbortSignal | undefined;
    readonly onWait: (error: MrlmError) => void;
  },
): Promise<T> {
  const { reconnection, signal, onWait } = options;
  let since: number | undefined;
  let losses = 0;
  for (let delay = reconnection.firstDelayMs; ; delay = Math.min(2 * delay, MAX_DELAY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted === true || !isPassing(error)) throw error;
      const wait = error.code === "SESSION_NOT_FOUND" ? 0 : (error.retryDelayMs ?? delay);
      if (error.code === "SESSION_NOT_FOUND" && ++losses > MAX_LOSSES) throw error;
      since ??= performance.now();
      if (performance.now() + wait - since > reconnection.patienceMs) throw error;
      onWait(error);
      await sleep(wait, undefined, signal === undefined ? {} : { signal }).catch(() => {
        throw new MrlmError("CANCELLED", "The wait for the environment server was cancelled.");
      });
    }
  }
}

/**
 * Whether the same may succeed when the server is back, has room, or opens another session. A client that has waited for its server in vain says that
 * it may not: the patience of a run is spent once.
 */
function isPassing(error: unknown): error is MrlmError {
  if (error instanceof EpisodeLost) return false;
  return (
    MrlmError.hasCode(error, "SESSION_NOT_FOUND") ||
    (MrlmError.hasCode(error, "SERVER_UNAVAILABLE", "RESOURCE_EXHAUSTED") && error.isRetryable)
  );
}
