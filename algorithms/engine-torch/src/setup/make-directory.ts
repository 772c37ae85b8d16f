import { mkdirSync } from "node:fs";
import { MrlmError } from "@mrlm/spec";

/** Makes a directory in the cache. @throws SETUP_FAILED where that is not allowed. */
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
