import { MrlmError } from "@mrlm/spec";

/** Where a row stands, for messages: `problems.jsonl:12`. */
export type Place = `${string}:${number}`;

/** DATA_INVALID for a row. The row itself is not quoted: it may hold answers. */
export function invalidRow(place: Place, what: string, hint?: string): MrlmError {
  return new MrlmError("DATA_INVALID", `${place}: ${what}.`, hint === undefined ? {} : { hint });
}
