/** A LaTeX command, a number, a word, or any other character. */
const TOKEN = /\\[a-z]+|\p{N}+(?:[.,]\p{N}+)*|\p{L}{2,}(?:['’-]\p{L}+)*|\S/giu;
const OPERATOR = /^(?:[+\-−*×÷·∙/^%=<>≤≥≠]|\\(?:times|cdot|div))$/u;
const FUNCTION = /^\\(?:[dt]?frac|sqrt|binom|sum|int|log|sin|cos|tan)$/;
/** Last and first token of an operand: a number, a variable of one letter, a constant, or a group. */
const OPERAND_END = /^(?:\p{N}|\p{L}$|\\|[)\]}]$)/u;
const OPERAND_START = /^(?:\p{N}|\p{L}$|\\|[([{√]$)/u;

/** Share of the characters of an answer that stand together in the prompt, from which the answer is a copy. */
const COPIED_SHARE = 0.8;
/** Number of tokens that a copied run has where it holds no operation: names, numbers and options of the question are answers too. */
const COPIED_TOKENS = 6;

/**
 * Returns true if the longest run of tokens that an answer has in common with its prompt is at least 80 % of the answer, by characters without spaces, and holds an
 * operation (`26 + 85`) or six tokens. Time is linear in both texts.
 */
export function isCopied(answer: string, prompt: string): boolean {
  const own = tokensOf(answer);
  if (own.length < COPIED_TOKENS && !holdsOperation(own)) return false;
  const given = tokensOf(prompt);
  // Characters before each token. A run of more than half of them holds the token in their middle.
  const ends = [0];
  for (const { length } of own) ends.push((ends.at(-1) as number) + length);
  const total = ends.at(-1) as number;
  const middle = ends.findLastIndex((before) => before <= total / 2);
  const after = commonPrefixes(own.slice(middle), given);
  const before = commonPrefixes(own.slice(0, middle).reverse(), given.toReversed());
  const size = (start: number, end: number): number => (ends[end] as number) - (ends[start] as number);
  let [start, end] = [middle, middle];
  for (let at = 0; at < given.length; at++) {
    if (after[at] === 0) continue;
    const run = [middle - (before[given.length - at] ?? 0), middle + (after[at] as number)] as const;
    if (size(...run) > size(start, end)) [start, end] = run;
  }
  const isLong = end - start >= COPIED_TOKENS || holdsOperation(own.slice(start, end));
  return isLong && size(start, end) >= COPIED_SHARE * total;
}

/** Returns for each place of a text the number of tokens from there on with which a pattern begins (the Z algorithm; Gusfield 1997, section 1.4). */
function commonPrefixes(pattern: readonly string[], text: readonly string[]): number[] {
  // No token is empty.
  const all = [...pattern, "", ...text];
  const lengths = all.map(() => 0);
  let [left, right] = [0, 0];
  for (let i = 1; i < all.length; i++) {
    let length = i < right ? Math.min(right - i, lengths[i - left] as number) : 0;
    while (i + length < all.length && all[length] === all[i + length]) length++;
    lengths[i] = length;
    if (i + length > right) [left, right] = [i, i + length];
  }
  return lengths.slice(pattern.length + 1);
}

function tokensOf(text: string): string[] {
  return text.toLowerCase().match(TOKEN) ?? [];
}

/** Whether an operator stands between two operands, or a function before its argument. A hyphen of words and a mark of Markdown are none. */
function holdsOperation(run: readonly string[]): boolean {
  return run.some((token, i) => {
    if (FUNCTION.test(token)) return i + 1 < run.length;
    if (!OPERATOR.test(token) || !OPERAND_END.test(run[i - 1] ?? "")) return false;
    // A second operator may be a sign.
    return OPERAND_START.test(run.slice(i + 1).find((each) => !OPERATOR.test(each)) ?? "");
  });
}
