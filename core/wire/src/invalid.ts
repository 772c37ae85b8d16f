import { MrlmError } from "@mrlm/spec";

/** An error for a message that cannot be what its sender meant. */
export function invalid(reason: string): MrlmError {
  return new MrlmError("MESSAGE_INVALID", `A protocol message is malformed: ${reason}.`);
}
