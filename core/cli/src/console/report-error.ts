import { fileFault, MrlmError } from "@mrlm/spec";
import type { Console } from "./console.ts";

/** Says what happened, why, and what to do; a fault of mrlm's own comes with its stack. */
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

/** Causes that add something to what the message says already. */
function causesOf(error: MrlmError): string[] {
  const causes: string[] = [];
  let cause = error.cause;
  while (cause instanceof Error && causes.length < 4) {
    // What gRPC says of a call is in the message of the error that was made of it.
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
