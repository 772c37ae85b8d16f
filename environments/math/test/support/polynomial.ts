/**
 * Returns the value of one side of a terse equation, `3x^2-x+4` or `2x-y`, at rational or real values of its unknowns.
 */
export function valueAt(side: string, values: Readonly<Record<string, number>>): number {
  expectShape(side);
  let total = 0;
  for (const [, sign, digits, name, square] of side.matchAll(/([-+]?)(\d*)([xyz]?)(\^2)?/g)) {
    if (digits === "" && name === "") continue;
    const coefficient = (sign === "-" ? -1 : 1) * (digits === "" ? 1 : Number(digits));
    const value = name === "" ? 1 : (values[name as string] as number);
    total += coefficient * (square === undefined ? value : value * value);
  }
  return total;
}

function expectShape(side: string): void {
  if (!/^[-+\dxyz^]+$/.test(side)) throw new Error(`"${side}" is no polynomial of the expected form`);
}

/** Returns the value of `3`, `-7/2`, `sqrt(3)` or `2 - sqrt(3)`. */
export function numberOf(text: string): number {
  const surd = /^(?:(-?\d+) ([-+]) |(-)?)sqrt\((\d+)\)$/.exec(text);
  if (surd) return Number(surd[1] ?? 0) + ((surd[2] ?? surd[3]) === "-" ? -1 : 1) * Math.sqrt(Number(surd[4]));
  if (!/^-?\d+(\/\d+)?$/.test(text)) throw new Error(`"${text}" is no number in lowest terms`);
  const [top, bottom = 1] = text.split("/").map(Number) as [number, number?];
  return top / bottom;
}
