import { setTimeout as delay } from "node:timers/promises";
import { MrlmError } from "@mrlm/spec";

/** Milliseconds to wait for room in a sandbox's queue, where it does not say how long. */
const DELAY_MS = 200;

/** Does it again for as long as there is no room in the sandbox's queue: a full queue is no verdict on a submission. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!MrlmError.hasCode(error, "RESOURCE_EXHAUSTED")) throw error;
      await delay(error.retryDelayMs ?? DELAY_MS, undefined, { signal });
    }
  }
}
