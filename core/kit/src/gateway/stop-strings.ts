/** Place of a stop string in a text. */
export interface StopMatch {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the stop string that ends first, and of those with the same end the longest. So the match does not depend on how the text is divided into tokens.
 * @param from first character at which a match may end
 */
export function findStop(text: string, stops: readonly string[], from = 0): StopMatch | undefined {
  let found: StopMatch | undefined;
  for (const stop of stops) {
    const start = text.indexOf(stop, Math.max(0, from - stop.length));
    if (start < 0) continue;
    const end = start + stop.length;
    if (found === undefined || end < found.end || (end === found.end && start < found.start)) found = { start, end };
  }
  return found;
}

/** Returns the length of the longest end of a text that begins a stop string. */
export function partialStop(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops)
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--)
      if (text.endsWith(stop.slice(0, length))) {
        longest = length;
        break;
      }
  return longest;
}
