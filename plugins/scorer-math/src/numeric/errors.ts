/** Error for an evaluation without a value. */

/** Error for an expression with a part that has no numeric value: an unknown function, a set, words. */
export class Unevaluable extends Error {
  override readonly name = "Unevaluable";
}

/** Error for an expression that is undefined at a point: a pole, or a non-real value where reals are required. */
export class UndefinedAtPoint extends Error {
  override readonly name = "UndefinedAtPoint";
}

/** Error for a value that is too large or too small to represent, or for an argument that is too large to reduce. */
export class OutOfRange extends Error {
  override readonly name = "OutOfRange";
}
