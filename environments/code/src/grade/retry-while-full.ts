import { setTimeout as delay } from "node:timers/promises";
import { MrlmError } from "@mrlm/spec";

/** Default delay in milliseconds between two tries. */
const DELAY_MS = 200;

/** Repeats work while the queue of the sandbox is full, which is not a verdict on a submission. Rejects when `signal` is aborted. */
export async function retryWhileFull<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!MrlmError.hasCode(error, "RESOURCE_EXHAUSTED")) throw error;
      await delay(error.retryDelayMs ?? DELAY_MS, undefined, { signal });
    }
  }
}
