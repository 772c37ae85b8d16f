import type { IncomingMessage, ServerResponse } from "node:http";
import { MrlmError } from "@mrlm/spec";
import { ApiError } from "../gateway/api-error.ts";
import { errorReply } from "../gateway/reply.ts";
import { acceptConnection } from "../http/connection-limit.ts";
import { createHttpServer, type HttpServer } from "../http/http-server.ts";
import { readBody } from "../http/read-body.ts";
import { bodyTooLarge, codecFor, keyOf, type ProgramCalls, type ProgramRequest } from "./program-calls.ts";

/** Longest time until a request has arrived as a whole, in milliseconds. */
const REQUEST_MS = 60_000;

/** Episodes of this process with an address, by their keys. */
const episodes = new Map<string, ProgramCalls>();
let listener: Promise<{ readonly http: HttpServer; readonly baseURL: string }> | undefined;

/** Returns the base URL at which the calls of an episode are answered. All episodes of a process have one loopback address. Rejects with AGENT_LISTEN_FAILED. */
export async function listen(calls: ProgramCalls): Promise<string> {
  if (calls.isClosed) throw new MrlmError("AGENT_LISTEN_FAILED", "The episode of the program has ended.");
  episodes.set(calls.apiKey, calls);
  try {
    return (await (listener ??= open())).baseURL;
  } catch (cause) {
    listener = undefined;
    throw new MrlmError("AGENT_LISTEN_FAILED", `No address for programs could be opened: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Ends the address of an episode. The last one closes the listener. */
export function unlisten(calls: ProgramCalls): void {
  if (!episodes.delete(calls.apiKey) || episodes.size > 0) return;
  void listener?.then(({ http }) => http.close(0));
  listener = undefined;
}

async function open(): Promise<{ readonly http: HttpServer; readonly baseURL: string }> {
  const http = createHttpServer(REQUEST_MS);
  http.server.on("request", (request: IncomingMessage, response: ServerResponse) => void serve(request, response));
  const { port } = await http.listen("127.0.0.1:0");
  return { http, baseURL: `http://127.0.0.1:${port}/v1` };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort(new DOMException("The client has left.", "AbortError")));
  try {
    await send(await answer(request, gone.signal), request, response);
  } catch {
    // The client has left, or learns of the error by the end of its connection.
    response.destroy();
  }
}

async function answer(request: IncomingMessage, signal: AbortSignal): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, [value ?? ""].flat().join(", "));
  const calls = episodes.get(keyOf(headers) ?? "");
  const path = URL.parse(`http://localhost${request.url ?? ""}`)?.pathname.replace(/^\/v1/, "") ?? "";
  if (calls === undefined)
    return errorReply(
      new ApiError(401, "invalid_api_key", "The key is of no running episode."),
      codecFor({ path, headers }),
    );
  acceptConnection(request.socket);
  return calls.handle({
    method: request.method ?? "",
    path,
    headers,
    signal,
    async text(maxBytes) {
      const body = await readBody(request, maxBytes);
      if (body === undefined) throw bodyTooLarge(maxBytes);
      return body.toString();
    },
  } satisfies ProgramRequest);
}

/** Sends a response, each part when the last one has left. */
async function send(
  { status, headers, body }: Response,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A body that was not read would be taken for the next request of the connection.
  if (!request.complete) response.setHeader("connection", "close");
  response.writeHead(status, Object.fromEntries(headers));
  response.flushHeaders();
  for await (const chunk of body ?? []) {
    await new Promise<void>((resolve, reject) => response.write(chunk, (error) => (error ? reject(error) : resolve())));
  }
  response.end();
  request.resume();
}
