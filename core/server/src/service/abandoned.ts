import { MrlmError } from "@mrlm/spec";
import type { Operation } from "../sessions/operation.ts";

/** How long a unary call whose client is gone may be taken up again before its work is aborted. */
const GRACE_MS = 1_000;

/** The caller of a unary method is gone. Unless the call is repeated soon, nobody wants its answer. */
export function abandoned(operation: Operation<unknown>): void {
  operation.leave();
  setTimeout(() => {
    if (operation.isAbandoned) operation.abort(new MrlmError("CANCELLED", "The client gave the call up."));
  }, GRACE_MS).unref();
}
