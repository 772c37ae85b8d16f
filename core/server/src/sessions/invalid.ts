import { MrlmError } from "@mrlm/spec";

/** Makes the error of a malformed request. */
export function invalid(reason: string): MrlmError {
  return new MrlmError("MESSAGE_INVALID", `A request to a session is malformed: ${reason}.`);
}
