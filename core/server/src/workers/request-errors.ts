import { MrlmError } from "@mrlm/spec";
import { invalid } from "@mrlm/wire";

/** Makes the error of a request that this version does not know. */
export function unknownKind(): MrlmError {
  return invalid("a request is of a kind that this version does not know");
}

/** Makes the error of a reset that waited longer for a place than its caller allows. */
export function late(deadlineMs: number): MrlmError {
  return new MrlmError("DEADLINE_EXCEEDED", `The reset took longer than the ${deadlineMs} ms that its caller allows.`);
}
