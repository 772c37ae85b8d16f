export { Admission } from "./sessions/admission.ts";
export { type CallContext, currentCall, inCall } from "./sessions/call-context.ts";
export { ServerMetrics } from "./sessions/server-metrics.ts";
export { logFault } from "./sessions/log-fault.ts";
export { ownerOf } from "./sessions/owner.ts";
export type { Operation } from "./sessions/operation.ts";
export type { SessionReset, SessionStart, SessionStep } from "./sessions/requests.ts";
export { type SessionLimits, type SessionStats, SessionTable } from "./sessions/session-table.ts";
