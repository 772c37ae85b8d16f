import type { ChildResult } from "@mrlm/sandbox/child";
import { Ended } from "./ended.ts";
import { Uncaught } from "./uncaught.ts";

/** Runs a request and returns its result, also if a limit or an error of the submission ended it. */
export async function concluded(run: () => Promise<ChildResult>, release: () => void): Promise<ChildResult> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Ended) return error.result;
    if (error instanceof Uncaught) return { verdict: "error", error: error.error };
    throw error;
  } finally {
    release();
  }
}
