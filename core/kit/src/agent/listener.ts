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
/** Longest path of a Unix socket, in bytes (unix(7): 108 with the null byte). */
const MAX_PATH = 107;

/** Connections to the socket of an episode at a time: an eighth of them may have no accepted request, such as those of calls that are made together. */
const SOCKET_CONNECTIONS = 1_024;

/** Episodes of this process with an address, by their keys. */
const episodes = new Map<string, ProgramCalls>();
const sockets = new Map<ProgramCalls, HttpServer>();
let listener: Promise<{ readonly http: HttpServer; readonly baseURL: string }> | undefined;

/** Returns the base URL at which the calls of an episode are answered. All episodes of a process have one loopback address. Rejects with AGENT_LISTEN_FAILED. */
export async function listen(calls: ProgramCalls): Promise<string> {
  if (calls.isClosed) throw ended();
  episodes.set(calls.apiKey, calls);
  try {
    return (await (listener ??= open())).baseURL;
  } catch (cause) {
    listener = undefined;
    throw failed(cause);
  }
}

/** Answers the calls of an episode at a Unix socket of its own: other keys are refused there. Rejects with AGENT_LISTEN_FAILED. */
export async function listenAt(calls: ProgramCalls, socketPath: string): Promise<void> {
  if (calls.isClosed) throw ended();
  try {
    if (Buffer.byteLength(socketPath) > MAX_PATH)
      throw new Error(`the path ${socketPath} of a socket has more than ${MAX_PATH} bytes; state a shorter TMPDIR`);
    if (sockets.has(calls)) throw new Error("the episode has a socket already");
    const http = serverOf(() => calls, SOCKET_CONNECTIONS);
    sockets.set(calls, http);
    await http.listen(socketPath);
  } catch (cause) {
    throw failed(cause);
  }
}

/** Ends the addresses of an episode. The last one closes the listener that episodes share. */
export function unlisten(calls: ProgramCalls): void {
  void sockets.get(calls)?.close(0);
  sockets.delete(calls);
  if (!episodes.delete(calls.apiKey) || episodes.size > 0) return;
  void listener?.then(({ http }) => http.close(0));
  listener = undefined;
}

async function open(): Promise<{ readonly http: HttpServer; readonly baseURL: string }> {
  const http = serverOf((key) => episodes.get(key));
  const { port } = await http.listen("127.0.0.1:0");
  return { http, baseURL: `http://127.0.0.1:${port}/v1` };
}

type Find = (key: string) => ProgramCalls | undefined;

function serverOf(find: Find, maxConnections?: number): HttpServer {
  const http = createHttpServer(REQUEST_MS, undefined, maxConnections);
  http.server.on("request", (...exchange: Exchange) => void serve(find, ...exchange));
  return http;
}

type Exchange = [request: IncomingMessage, response: ServerResponse];

function ended(): MrlmError {
  return new MrlmError("AGENT_LISTEN_FAILED", "The episode of the program has ended.");
}

function failed(cause: unknown): MrlmError {
  const reason = (cause as Error).message;
  return new MrlmError("AGENT_LISTEN_FAILED", `No address for programs could be opened: ${reason}`, { cause });
}

async function serve(find: Find, ...[request, response]: Exchange): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort(new DOMException("The client has left.", "AbortError")));
  try {
    await send(await answer(find, request, gone.signal), request, response);
  } catch {
    // The client has left, or learns of the error by the end of its connection.
    response.destroy();
  }
}

async function answer(find: Find, request: IncomingMessage, signal: AbortSignal): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, [value ?? ""].flat().join(", "));
  const key = keyOf(headers) ?? "";
  const calls = find(key);
  const path = URL.parse(`http://localhost${request.url ?? ""}`)?.pathname.replace(/^\/v1/, "") ?? "";
  if (calls === undefined)
    return errorReply(
      new ApiError(401, "invalid_api_key", "The key is of no running episode."),
      codecFor({ path, headers }),
    );
  if (key === calls.apiKey) acceptConnection(request.socket);
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
