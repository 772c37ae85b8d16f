/** Evaluation in which functions compute their values. */
import type { Node } from "../tree/node.ts";
import type { Work } from "../work.ts";
import type { Complex } from "./complex.ts";

export interface Evaluation {
  readonly work: Work;
  /** Precision of every operation. */
  readonly bits: number;
  evaluate(node: Node): Complex;
  /** The same evaluation with another value for one variable. */
  withValue(name: string, value: Complex): Evaluation;
  /** Checks that a value is real where only reals are required; throws `UndefinedAtPoint`. */
  real(value: Complex): Complex;
  /** 1/value; throws `UndefinedAtPoint` at zero. */
  invert(value: Complex): Complex;
}
