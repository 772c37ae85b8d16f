import { setTimeout } from "node:timers/promises";
import { MrlmError } from "@mrlm/spec";

/** Time by which play waits. A simulation has another one than the system. */
export interface PlayClock {
  /** Milliseconds since a fixed time; never falls. */
  now(): number;
  /** Resolves after some milliseconds. Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: PlayClock = {
  now: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
};

/** Time between two looks for what other processes have opened or played, in milliseconds. */
const POLL_MS = 50;

/** Waits until the store is looked at again. Rejects with CANCELLED after a stop. */
export async function pause(clock: PlayClock, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(POLL_MS, signal);
  } catch {
    throw stopped(signal);
  }
}

/** Error of a play after a stop. */
export function stopped({ reason }: AbortSignal): MrlmError {
  return new MrlmError("CANCELLED", "The play was stopped.", { cause: reason });
}
