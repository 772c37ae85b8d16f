import { MrlmError } from "@mrlm/spec";
import type { Operation } from "../sessions/operation.ts";

/** Time in which a unary call whose client is gone may be repeated before its work is aborted. */
const GRACE_MS = 1_000;

/** Handles a unary call whose client is gone: unless the call is repeated soon, its work is aborted. */
export function abandoned(operation: Operation<unknown>): void {
  operation.leave();
  setTimeout(() => {
    if (operation.isAbandoned) operation.abort(new MrlmError("CANCELLED", "The client cancelled the call."));
  }, GRACE_MS).unref();
}
