import type { MrlmError } from "@mrlm/spec";

/** Error of a request as a whole, with the HTTP status of its response. */
export class HttpError extends Error {
  readonly status: number;
  readonly error: MrlmError;

  constructor(status: number, error: MrlmError) {
    super(error.message, { cause: error });
    this.status = status;
    this.error = error;
  }
}
