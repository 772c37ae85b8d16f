import { nearestName } from "@mrlm/spec/host";

/** Longest name that a message holds whole. */
const LONGEST = 64;

/** Largest number of faults in one message. A list of thousands is not useful and is slow to create. */
const MAX_NAMED = 10;

/** Describes the first ten entries of a list, and states the number of the others. */
export function firstNamed<T>(items: readonly T[], describe: (item: T) => string): string[] {
  const rest = items.length - MAX_NAMED;
  return [...items.slice(0, MAX_NAMED).map(describe), ...(rest > 0 ? [`and ${rest} more`] : [])];
}

/** Quotes a name for a message: `"abc"`, cut after 64 characters. */
export function quoted(name: string): string {
  return name.length > LONGEST ? `"${name.slice(0, LONGEST)}..." (${name.length} characters)` : `"${name}"`;
}

/** Returns ` Did you mean "x"?`, or an empty text. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}
