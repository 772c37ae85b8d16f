import assert from "node:assert/strict";
import { type ErrorCode, MrlmError } from "@mrlm/spec";

/** Fails unless the promise rejects with one of these codes. */
export async function expectCode(promise: Promise<unknown>, ...codes: ErrorCode[]): Promise<void> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    assert(MrlmError.isInstance(error), `Expected ${codes.join(" or ")}, but this was thrown: ${String(error)}`);
    // The message of the environment's own failure is the finding.
    if (error.code === "ENVIRONMENT_FAILED" && !codes.includes(error.code)) throw error;
    assert(codes.includes(error.code), `Expected ${codes.join(" or ")}, but it was ${error.code}: ${error.message}`);
    return;
  }
  assert.fail(`Expected ${codes.join(" or ")}, but it returned ${JSON.stringify(value)?.slice(0, 200)}.`);
}
