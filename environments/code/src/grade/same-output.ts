/**
 * Returns true if a program wrote the expected lines, except for white space at the end of lines and of the text. With a tolerance, numbers may differ by it,
 * absolutely or relatively.
 */
export function sameOutput(written: string, expected: string, tolerance: number): boolean {
  const [one, other] = [linesOf(written), linesOf(expected)];
  if (one.length !== other.length) return false;
  return one.every(
    (line, i) => line === other[i] || (tolerance > 0 && sameNumbers(line, other[i] as string, tolerance)),
  );
}

function linesOf(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
}

function sameNumbers(line: string, expected: string, tolerance: number): boolean {
  const [words, wanted] = [line.trim().split(/\s+/), expected.trim().split(/\s+/)];
  return (
    words.length === wanted.length &&
    words.every((word, i) => word === wanted[i] || isNear(word, wanted[i] as string, tolerance))
  );
}

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

function isNear(word: string, wanted: string, tolerance: number): boolean {
  if (!NUMBER.test(word) || !NUMBER.test(wanted)) return false;
  const [value, target] = [Number(word), Number(wanted)];
  return Number.isFinite(target) && Math.abs(value - target) <= tolerance * Math.max(1, Math.abs(target));
}
