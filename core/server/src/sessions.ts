export { Admission } from "./sessions/admission.ts";
export { currentCall } from "./sessions/call-context.ts";
export { logFault } from "./sessions/log-fault.ts";
export { ownerOf } from "./sessions/owner.ts";
export { SessionTable } from "./sessions/session-table.ts";
export type { SessionLimits } from "./sessions/sessions.ts";
