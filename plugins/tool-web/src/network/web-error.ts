/** Cause of a failed request, for the text that the policy reads and for cassettes. */
export type WebErrorKind =
  | "url"
  | "denied"
  | "address"
  | "robots"
  | "redirect"
  | "timeout"
  | "network"
  | "protocol"
  | "encoding"
  | "content";

/** Failure of a request that the policy may read: its URL, its page or the server. The message is a whole sentence without the name of the error. */
export class WebError extends Error {
  readonly kind: WebErrorKind;

  constructor(kind: WebErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WebError";
    this.kind = kind;
  }
}
