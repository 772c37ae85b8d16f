import { type ClientRequest, type IncomingMessage, request as send } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";

/** Response of a raw request. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  readonly body: {
    readonly id?: unknown;
    readonly result?: unknown;
    readonly error?: { code: unknown; data?: unknown };
  };
}

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** First message of a client. */
export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

/** Begins a request without a keep-alive connection. */
export function begin(url: URL, headers: Readonly<Record<string, string>>, method = "POST"): ClientRequest {
  return send(url, { method, agent: false, headers: { ...HEADERS, ...headers } });
}

/** Sends a request. A body that is no text is sent as JSON. */
export async function raw(
  url: URL,
  options: {
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
    readonly method?: string;
  } = {},
): Promise<RawResponse> {
  const { body, headers = {}, method = body === undefined ? "GET" : "POST" } = options;
  const bytes =
    typeof body === "string" || Buffer.isBuffer(body) ? Buffer.from(body) : Buffer.from(JSON.stringify(body) ?? "");
  const request = begin(url, { ...headers, "content-length": String(bytes.length) }, method);
  request.on("error", () => undefined);
  request.write(bytes);
  request.end();
  return responseOf(request);
}

/** Waits for the response. */
export async function responseOf(request: ClientRequest): Promise<RawResponse> {
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    // Some responses have no body, or one of Node's own.
  }
  return { status: response.statusCode ?? 0, headers: response.headers, text, body };
}

/** Opens a session. @returns its id */
export async function open(url: URL, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await raw(url, { body: INITIALIZE, headers });
  if (response.status !== 200 || response.body.error !== undefined) throw new Error(response.text);
  return String(response.headers["mcp-session-id"]);
}

/** Calls a tool. */
export function call(url: URL, session: string, name: string, args: object = {}, id = 2): Promise<RawResponse> {
  const body = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
  return raw(url, { body, headers: { "mcp-session-id": session } });
}

/** Sends text over a connection of its own. @returns the text that arrived until the server ended the connection */
export async function exchangeText(url: URL, text: string): Promise<string> {
  const socket = connect(Number(url.port), url.hostname);
  let received = "";
  socket.on("data", (chunk) => (received += String(chunk)));
  // A server that does not read everything resets the connection after its response.
  socket.on("error", () => undefined);
  socket.write(text);
  await new Promise((resolve) => socket.once("close", resolve));
  return received;
}
