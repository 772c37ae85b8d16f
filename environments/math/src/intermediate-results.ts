/** Number after an equals sign that is not part of a further computation: 12 in `3 * 4 = 12`, but not 3 in `x = 3 * 4`. */
const RESULT = /=\s*\$?\s*(-?\d[\d,]*(?:\.\d+)?(?:\/\d+)?)(?![\w^]|[.,]\d|\s*[-+*/^(])/g;
const NUMBER = /(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:\/\d+)?/g;

/** Returns the results of the worked steps, without the answer at their end. */
export function intermediateResults(steps: readonly string[], answer: string): string[] {
  const results = steps.flatMap((step) => Array.from(step.matchAll(RESULT), ([, number]) => plain(number as string)));
  while (results.at(-1) === plain(answer)) results.pop();
  return results;
}

/**
 * Returns the share of the results that a text shows in their order: the length of the longest common subsequence of the results and the numbers of the text,
 * divided by the number of results. `undefined` without results.
 */
export function shareShown(results: readonly string[], text: string): number | undefined {
  if (results.length === 0) return undefined;
  // lengths[i]: longest common subsequence of the first i results and the numbers so far.
  const lengths = new Array<number>(results.length + 1).fill(0);
  for (const [number] of text.matchAll(NUMBER)) {
    let diagonal = 0;
    for (const [i, result] of results.entries()) {
      const above = lengths[i + 1] as number;
      lengths[i + 1] = result === plain(number) ? diagonal + 1 : Math.max(above, lengths[i] as number);
      diagonal = above;
    }
  }
  return (lengths.at(-1) as number) / results.length;
}

/** Returns the numbers of a text without thousands separators. */
function plain(number: string): string {
  return number.replaceAll(",", "");
}
