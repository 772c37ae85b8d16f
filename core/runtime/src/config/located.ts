import { MrlmError } from "@mrlm/spec";
import type { LoadedConfig } from "./load-config.ts";
import type { ConfigPath } from "./source-text.ts";

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

/** Adds the place in the configuration to errors of some work. */
export async function at<T>(
  { source }: Pick<LoadedConfig, "source">,
  path: ConfigPath,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw located(error, source.locate(path));
  }
}
