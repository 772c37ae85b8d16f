/**
 * Writes a sum of terms with whole coefficients: `2x^2 - x + 3`. Terms with coefficient 0 are omitted; a term without a name is a constant.
 */
export function sum(...terms: readonly (readonly [coefficient: number, name: string])[]): string {
  const written = terms
    .filter(([coefficient]) => coefficient !== 0)
    .map(([coefficient, name]) => term(coefficient, name));
  return written.length === 0 ? "0" : written.join(" + ").replaceAll("+ -", "- ");
}

function term(coefficient: number, name: string): string {
  if (name === "" || Math.abs(coefficient) !== 1) return `${coefficient}${name}`;
  return coefficient === 1 ? name : `-${name}`;
}

/** Removes spaces. */
export function dense(text: string): string {
  return text.replaceAll(" ", "");
}

/** Writes a number as an operand, in parentheses if it is negative. */
export function operand(value: number): string {
  return value < 0 ? `(${value})` : String(value);
}
