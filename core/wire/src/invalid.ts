import { MrlmError } from "@mrlm/spec";

/** Makes the error for a malformed message. */
export function invalid(reason: string): MrlmError {
  return new MrlmError("MESSAGE_INVALID", `A protocol message is malformed: ${reason}.`);
}
