/** Error for an evaluation without a value. */

/** The expression contains what has no numeric value: an unknown function, a set, words. */
export class Unevaluable extends Error {
  override readonly name = "Unevaluable";
}

/** The expression is undefined at this point: a pole, or a non-real value where reals are asked for. */
export class UndefinedAtPoint extends Error {
  override readonly name = "UndefinedAtPoint";
}

/** The value is too large or too small to represent, or its argument too large to reduce. */
export class OutOfRange extends Error {
  override readonly name = "OutOfRange";
}
