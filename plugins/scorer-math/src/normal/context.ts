/** Context of the normaliser: rules, origins of atoms, and the function that normalises parts. */
import type { Node } from "../tree/node.ts";
import type { Rational } from "../exact/rational.ts";
import type { Work } from "../work.ts";
import type { Fraction } from "./fraction.ts";
import type { Polynomial, PolynomialRing } from "./polynomial.ts";

export interface NormalForms {
  readonly work: Work;
  readonly ring: PolynomialRing;
  /**
   * False once an atom occurs that may be related to others in ways that the rules do not know (an application of a
   * function, a nested radical, pi together with e): then different normal forms do not prove a difference.
   */
  isComplete: boolean;
  /** The normal form that an atom was made of: the argument of a logarithm, the exponent of an exponential. */
  readonly origins: Map<string, Fraction>;
  /** The normal form of an expression. Throws `NotScalar` and `Undefined`. */
  normalise(node: Node): Fraction;
  /** The atom [p]^exponent of a polynomial without a simpler root, for an exponent between 0 and 1. */
  radical(p: Polynomial, exponent: Rational): Polynomial;
  /** The name of the atom that stands for a function applied to normal forms. */
  application(name: string, args: readonly Fraction[]): string;
}
