/** Error in an expression, for the author of the expression. */
export class InvalidExpression extends Error {
  override readonly name = "InvalidExpression";
}
