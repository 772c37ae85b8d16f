import { MrlmError } from "@mrlm/spec";

/** Place of a row in messages: `problems.jsonl:12`. */
export type Place = `${string}:${number}`;

/** Returns DATA_INVALID for a row. The message does not quote the row, which may contain answers. */
export function invalidRow(place: Place, what: string, hint?: string): MrlmError {
  return new MrlmError("DATA_INVALID", `${place}: ${what}.`, hint === undefined ? {} : { hint });
}
