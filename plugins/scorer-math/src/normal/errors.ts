/** Error for an expression without a normal form. */

/** Error for a node that is not a number: a set, a relation, words. */
export class NotScalar extends Error {
  override readonly name = "NotScalar";
}

/** Error for an expression without a value: a division by zero, the logarithm of zero. */
export class Undefined extends Error {
  override readonly name = "Undefined";
}
