import { type ErrorCode, type JsonObject, MrlmError } from "@mrlm/spec";
import type { EnvironmentDescription } from "@mrlm/spec/host";
import { didYouMean } from "../names/nearest.ts";

/**
 * Returns the number of tasks in a split. Throws an error for an empty or unknown split.
 * @param fault code of the error, and further advice
 */
export function splitSize(
  { id, splits }: EnvironmentDescription,
  split: string,
  options: JsonObject,
  fault: { readonly code: ErrorCode; readonly advice?: string },
): number {
  const size = Object.hasOwn(splits, split) ? (splits[split] as number) : 0;
  if (size > 0) return size;
  const names = Object.keys(splits);
  const isEmpty = names.includes(split);
  const reason = isEmpty
    ? "The split is empty under these options."
    : `Its splits: ${names.join(", ") || "none"}.${didYouMean(split, names)}`;
  const hint = [isEmpty ? emptyHint(options) : "Name one of its splits.", fault.advice]
    .filter((text) => text !== undefined)
    .join(" ");
  throw new MrlmError(fault.code, `Environment ${id} has no tasks in split "${split}". ${reason}`, { hint });
}

/** Returns advice for an empty split. */
export function emptyHint(options: JsonObject): string {
  return typeof options["data"] === "object"
    ? "`data.eval_share` of its options is the share of the file's questions that are kept for `eval`; of a single question one side gets none."
    : "Choose other options or another environment.";
}
