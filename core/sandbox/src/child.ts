/** Entry point for child processes: reads requests from one descriptor and writes answers to another. Imports Node only. */
export { Answer } from "./child/answer.ts";
export { serveRequests } from "./child/serve-requests.ts";
export type { ChildRequest, ChildResult } from "./protocol/messages.ts";
export { readResult } from "./protocol/read-result.ts";
