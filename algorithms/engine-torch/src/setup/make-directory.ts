import { mkdirSync } from "node:fs";
import { MrlmError } from "@mrlm/spec";

/** Creates a directory in the cache. @throws SETUP_FAILED if this is not permitted. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new MrlmError(
      "SETUP_FAILED",
      `The cache directory ${directory} cannot be made: ${(error as Error).message}`,
      {
        hint: "Set MRLM_CACHE to a directory that you can write to.",
        cause: error,
      },
    );
  }
}
