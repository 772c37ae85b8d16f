/** Error in the form of OpenAI's API. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** Parameter of the request that is wrong. */
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { readonly param?: string; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Body of the response. */
  get body(): { readonly error: Readonly<Record<"message" | "type" | "param" | "code", string | null>> } {
    return { error: { message: this.message, type: typeOf(this.status), param: this.param, code: this.code } };
  }
}

/** Returns the error of a parameter with a wrong value. */
export function invalidParameter(param: string, message: string): ApiError {
  return new ApiError(400, "invalid_value", message, { param });
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}
