/** Error for an expression without a normal form. */

/** The node is not a number: a set, a relation, words. */
export class NotScalar extends Error {
  override readonly name = "NotScalar";
}

/** The expression has no value: a division by zero, the logarithm of zero. */
export class Undefined extends Error {
  override readonly name = "Undefined";
}
