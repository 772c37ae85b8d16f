/** A number after an equals sign, as long as nothing is computed with it further: the 12 of `3 * 4 = 12`, but not the 3 of `x = 3 * 4`. */
const RESULT = /=\s*\$?\s*(-?\d[\d,]*(?:\.\d+)?(?:\/\d+)?)(?![\w^]|[.,]\d|\s*[-+*/^(])/g;
const NUMBER = /(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:\/\d+)?/g;

/** Numbers on the way to the answer: the results of the worked steps, without the answer itself at their end. */
export function intermediateResults(steps: readonly string[], answer: string): string[] {
  const results = steps.flatMap((step) => Array.from(step.matchAll(RESULT), ([, number]) => plain(number as string)));
  while (results.at(-1) === plain(answer)) results.pop();
  return results;
}

/**
 * The share of the results that a text shows in their order: the longest common subsequence of the results and the text's numbers, over
 * the number of results. `undefined` where there are no results.
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

/** Without thousands separators. */
function plain(number: string): string {
  return number.replaceAll(",", "");
}
