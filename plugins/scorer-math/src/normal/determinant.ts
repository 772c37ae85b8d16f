/** Determinants by expansion along the first row. */
import type { Node } from "../tree/node.ts";
import * as frac from "./fraction.ts";
import type { Fraction } from "./fraction.ts";
import { NotScalar } from "./errors.ts";
import type { NormalForms } from "./context.ts";

const LARGEST = 6;

export function determinant(n: NormalForms, rows: readonly (readonly Node[])[]): Fraction {
  if (rows.length > LARGEST || rows.some((row) => row.length !== rows.length))
    throw new NotScalar("the determinant of no small square matrix");
  return expand(
    n,
    rows.map((row) => row.map((cell) => n.normalise(cell))),
  );
}

function expand(n: NormalForms, rows: readonly (readonly Fraction[])[]): Fraction {
  const [first, ...rest] = rows as [readonly Fraction[], ...(readonly Fraction[])[]];
  if (rest.length === 0) return first[0] as Fraction;
  return first.reduce((total, cell, column) => {
    const minor = expand(
      n,
      rest.map((row) => row.filter((_, j) => j !== column)),
    );
    const product = frac.multiply(n.ring, cell, minor);
    return frac.add(n.ring, total, column % 2 === 0 ? product : frac.negate(product));
  }, frac.ZERO);
}
