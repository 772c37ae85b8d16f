/** What a child process imports: it reads requests on one descriptor and answers on another. Imports nothing but Node. */
export { Answer } from "./child/answer.ts";
export { type ChildHandler, serveRequests } from "./child/serve-requests.ts";
export type { ChildRequest, ChildResult } from "./protocol/messages.ts";
export { readResult } from "./protocol/read-result.ts";
