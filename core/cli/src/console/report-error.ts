import { fileFault, MrlmError } from "@mrlm/spec";
import type { Console } from "./console.ts";

/** Prints code, message, hint and causes of an error; an internal error is printed with its stack. */
export function reportError(console: Console, error: unknown): void {
  if (!MrlmError.isInstance(error)) {
    console.note(`error INTERNAL: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    console.emit({ event: "error", code: "INTERNAL", message: error instanceof Error ? error.message : String(error) });
    return;
  }
  console.note(`error ${error.code}: ${error.message}`);
  if (error.hint !== "") console.note(`  ${error.hint}`);
  for (const cause of causesOf(error)) console.note(`  caused by: ${cause}`);
  console.emit({ event: "error", code: error.code, message: error.message, hint: error.hint });
}

/** Returns the causes that add information to the message. */
function causesOf(error: MrlmError): string[] {
  const causes: string[] = [];
  let cause = error.cause;
  while (cause instanceof Error && causes.length < 4) {
    // The message contains the details of a gRPC status already.
    const isStatus = "details" in cause && "metadata" in cause;
    if (
      !isStatus &&
      !error.message.includes(fileFault(cause)) &&
      !error.message.includes(cause.message) &&
      !causes.includes(cause.message)
    )
      causes.push(cause.message);
    cause = cause.cause;
  }
  return causes;
}
