export { Admission } from "./sessions/admission.ts";
export { currentCall } from "./sessions/call-context.ts";
export { logFault } from "./sessions/log-fault.ts";
export { ownerOf } from "./sessions/owner.ts";
export { type SessionLimits, SessionTable } from "./sessions/session-table.ts";
