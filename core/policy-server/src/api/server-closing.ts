import { ApiError } from "@mrlm/kit/gateway";

/** Returns the error of requests that an ending server refuses or cancels. */
export function serverClosing(): ApiError {
  return new ApiError(503, "server_closing", "The server ends.", { retryAfterSeconds: 1 });
}
