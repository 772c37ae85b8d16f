import { MrlmError } from "@mrlm/spec";
import type { Place } from "./row.ts";

/** DATA_INVALID for a row. The row itself is not quoted: it may hold answers. */
export function invalidRow(place: Place, what: string, hint?: string): MrlmError {
  return new MrlmError("DATA_INVALID", `${place}: ${what}.`, hint === undefined ? {} : { hint });
}
