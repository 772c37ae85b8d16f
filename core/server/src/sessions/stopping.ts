import { MrlmError } from "@mrlm/spec";
import { jittered } from "./jittered.ts";

/** Retry delay that a stopping server states, in milliseconds before jitter. A restarted server may listen by then. */
const STOPPING_MS = 1_000;

/** Makes the error of a call that a stopping server refuses or ends. */
export function stopping(consequence: string): MrlmError {
  return new MrlmError("SERVER_UNAVAILABLE", `The server is stopping and ${consequence}.`, {
    retryDelayMs: jittered(STOPPING_MS),
  });
}
