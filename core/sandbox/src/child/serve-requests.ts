import { Socket } from "node:net";
import { FrameReader } from "../protocol/frames.ts";
import { type ChildReady, type ChildRequest, type ChildResult, REQUEST_FD } from "../protocol/messages.ts";
import { Answer, send } from "./answer.ts";

/** Serves one request. An exception is a failure of the sandbox: there is no verdict. */
export type ChildHandler = (request: ChildRequest, answer: Answer) => Promise<ChildResult> | ChildResult;

/** Requests come from the trusted parent, which limits their length. */
const MAX_REQUEST_BYTES = 0xffff_ffff;

/** Reports that the child is ready, then serves requests one by one until the parent closes the channel. */
export function serveRequests(handler: ChildHandler, ready: ChildReady = {}): void {
  const reader = new FrameReader(MAX_REQUEST_BYTES);
  let last: Promise<void> = Promise.resolve();
  const socket = new Socket({ fd: REQUEST_FD, readable: true, writable: false });
  socket.on("data", (chunk) => {
    for (const request of reader.push(chunk))
      last = last.then(() => carryOut(request as unknown as ChildRequest, handler));
  });
  // The parent has exited, or ends this child.
  socket.on("close", () => process.exit(0));
  send({ type: "ready", ...ready });
}

async function carryOut(request: ChildRequest, handler: ChildHandler): Promise<void> {
  const answer = new Answer(request.id, request.limits.outputBytes);
  try {
    answer.end(await handler(request, answer));
  } catch (error) {
    answer.fail(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
}
