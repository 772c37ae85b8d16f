import { setTimeout as sleep } from "node:timers/promises";
import { MrlmError } from "@mrlm/spec";
import { EpisodeLost } from "./episode-lost.ts";

/** Sessions that one reset or step may lose. */
const MAX_LOSSES = 5;
/** Pause after a refusal that states none, in milliseconds. */
const REFUSED_MS = 1_000;

/**
 * Repeats work whose session the host lost or refused, each time with a new session. A lost session is repeated at once, a refused one
 * after the delay that the host states, until the refusals have lasted `maxWaitMs`.
 *
 * Connection losses are not repeated here: the client of an environment server waits for the server, and its SERVER_UNAVAILABLE is final.
 * @param options.onLoss called before each repetition
 */
export async function retry<T>(
  work: () => Promise<T>,
  options: { readonly maxWaitMs: number; readonly signal: AbortSignal; onLoss(error: MrlmError): void },
): Promise<T> {
  const { maxWaitMs, signal, onLoss } = options;
  let refusedSince: number | undefined;
  for (let losses = 0; ;) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      if (isLoss(error)) {
        if (++losses > MAX_LOSSES) throw error;
        onLoss(error);
      } else if (isRefusal(error)) {
        const delayMs = error.retryDelayMs ?? REFUSED_MS;
        refusedSince ??= performance.now();
        if (performance.now() + delayMs - refusedSince > maxWaitMs) throw error;
        onLoss(error);
        await sleep(delayMs, undefined, { signal }).catch(() => {
          throw new MrlmError("CANCELLED", "The wait for a session was cancelled.", { cause: signal.reason });
        });
      } else throw error;
    }
  }
}

function isLoss(error: unknown): error is MrlmError {
  return MrlmError.hasCode(error, "SESSION_NOT_FOUND") && !(error instanceof EpisodeLost);
}

/** Whether a host that can be reached has no room, or stops and states when to come back. */
function isRefusal(error: unknown): error is MrlmError {
  return (
    (MrlmError.hasCode(error, "RESOURCE_EXHAUSTED") && error.isRetryable) ||
    (MrlmError.hasCode(error, "SERVER_UNAVAILABLE") && error.retryDelayMs !== undefined)
  );
}
