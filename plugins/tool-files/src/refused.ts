/** Error in a call of a policy: the message is a result with `isError`. Every other error means that the tool is broken. */
export class Refused extends Error {
  override readonly name = "Refused";
}
