import { MrlmError } from "@mrlm/spec";

/** Returns the error with a place of the configuration before its message. Returns other errors than `MrlmError` as they are. */
export function located(error: unknown, place: string): unknown {
  if (!MrlmError.isInstance(error)) return error;
  // An error about an option of a plugin may have a more exact place already.
  if (error.message.startsWith(place.replace(/\d+:\d+$/, ""))) return error;
  return new MrlmError(error.code, `${place}: ${error.message}`, {
    hint: error.hint,
    isRetryable: error.isRetryable,
    cause: error,
  });
}
