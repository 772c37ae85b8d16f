import type { Exchange } from "@mrlm/kit/http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";

/** Returns a request with the same method and headers, without its body. */
export function webRequest({ request, url }: Exchange): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct))
    for (const value of values) headers.append(name, value);
  return new Request(url, { method: request.method ?? "GET", headers });
}

/** Sends a response. A stream ends when the client disconnects. */
export async function sendWebResponse({ response: target }: Exchange, response: Response): Promise<void> {
  if (target.destroyed || target.headersSent) return;
  target.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return void target.end();
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
    return void target.end(Buffer.from(await response.arrayBuffer()));
  target.flushHeaders();
  // The client disconnects by ending the connection.
  await pipeline(Readable.fromWeb(response.body as ReadableStream), target).catch(() => undefined);
}
