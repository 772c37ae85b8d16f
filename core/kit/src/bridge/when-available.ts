import { MrlmError } from "@mrlm/spec";
import type { BridgeOptions } from "./bridge-options.ts";
import { ServerFull } from "./remote-episode.ts";
import { pause, within } from "./within.ts";

/** Pause before another connection to a server that cannot be reached, which doubles up to a limit. */
const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 2_000;

/**
 * Starts work on a server, such as an episode: it may be repeated, because nothing has been done yet. A server that cannot be reached, or that loses the
 * connection, is tried again until `reset_ms` have passed; one without a free session after the delay that it states, until `wait_ms` have passed.
 * Rejects with BRIDGE_FULL, BRIDGE_TIMEOUT, and the error of the last attempt.
 * @param discard releases a result that comes too late
 */
export async function whenAvailable<T>(
  { reset_ms: resetMs, wait_ms: waitMs }: BridgeOptions["timeouts"],
  signal: AbortSignal,
  start: (signal: AbortSignal) => Promise<T>,
  discard?: (late: T) => void,
): Promise<T> {
  const begin = performance.now();
  let waited = 0;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const left = resetMs + waited - (performance.now() - begin);
    try {
      return await within({ ms: left, what: "The start on the server", signal }, start, discard);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ServerFull) {
        if (waited + error.delayMs > waitMs)
          throw new MrlmError("BRIDGE_FULL", `After ${Math.round(waited)} ms: ${error.message}`, { cause: error });
        const before = performance.now();
        await pause(error.delayMs, signal);
        waited += performance.now() - before;
      } else if (MrlmError.hasCode(error, "BRIDGE_UNREACHABLE", "BRIDGE_LOST")) {
        if (performance.now() - begin - waited + pauseMs > resetMs) throw error;
        await pause(pauseMs, signal);
        pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2);
      } else throw error;
    }
  }
}
