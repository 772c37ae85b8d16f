import { Client, type Dispatcher } from "undici";
import { type AddressRules, guardedConnector } from "./guarded-connector.ts";
import { ACCEPT_ENCODING, readBody } from "./read-body.ts";
import { WebError } from "./web-error.ts";

/** One request. Redirects are not followed. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Limit in bytes of the body, before and after decompression. A longer body is cut. */
  readonly maxBytes: number;
}

/** Response to one request. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; without cookies. Several values of one header are joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The body was longer than `maxBytes`. */
  readonly isTruncated: boolean;
}

/** Sends one request. Rejects with WebError, or with the reason of the signal if the caller's signal aborted. */
export type Exchange = (request: HttpRequest, options: ExchangeOptions) => Promise<HttpResponse>;

export interface ExchangeOptions {
  readonly signal: AbortSignal;
  /** Time from the lookup to the last byte. A longer exchange rejects with WebError `timeout`. */
  readonly timeoutMs: number;
}

const MAX_HEADER_BYTES = 32 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export const isRedirect = (status: number): boolean => REDIRECTS.has(status);

/**
 * Returns an exchange over undici. Each request has a connection of its own, which is closed after it: no request uses a connection that was opened, and
 * checked, for another one. Proxies from the environment are not used.
 * @param rules addresses that may be reached; "trusted" for any, if every URL comes from the operator
 */
export function httpExchange(rules: AddressRules | "trusted"): Exchange {
  return async ({ method, url, headers, body, maxBytes }, { signal, timeoutMs }) => {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(timeoutMs);
    const client = new Client(url.origin, {
      connect: rules === "trusted" ? { timeout: timeoutMs } : guardedConnector(rules, timeoutMs),
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    try {
      const response = await client.request({
        method,
        path: url.pathname + url.search,
        headers: { ...headers, "accept-encoding": ACCEPT_ENCODING },
        body: body ?? null,
        signal: AbortSignal.any([signal, deadline]),
      });
      const named = plainHeaders(response.headers);
      if (isRedirect(response.statusCode)) {
        response.body.on("error", () => undefined).destroy();
        return { status: response.statusCode, headers: named, body: new Uint8Array(), isTruncated: false };
      }
      const { bytes, isTruncated } = await readBody(response.body, named["content-encoding"] ?? "", maxBytes);
      return { status: response.statusCode, headers: named, body: bytes, isTruncated };
    } catch (error) {
      signal.throwIfAborted();
      throw deadline.aborted ? new WebError("timeout", "The server did not send the page in time.") : webError(error);
    } finally {
      await client.destroy();
    }
  };
}

/** Headers that the tools use. Others may hold secrets or the time of day, and would only fill cassettes. */
const KEPT_HEADERS = ["content-encoding", "content-type", "location", "retry-after"];

function plainHeaders(headers: Dispatcher.ResponseData["headers"]): Record<string, string> {
  const entries = KEPT_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as const];
  });
  return Object.fromEntries(entries);
}

function webError(error: unknown): unknown {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof WebError) return cause;
  }
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (name === "HTTPParserError")
    return new WebError("protocol", "The server broke the protocol of HTTP.", { cause: error });
  if (typeof code !== "string" || code === "UND_ERR_INVALID_ARG") return error;
  if (/TIMEOUT|ETIMEDOUT/.test(code))
    return new WebError("timeout", "The server did not answer in time.", { cause: error });
  if (/ENOTFOUND|EAI_AGAIN/.test(code))
    return new WebError("network", "The host does not exist or cannot be resolved.", { cause: error });
  if (code === "UND_ERR_HEADERS_OVERFLOW")
    return new WebError("protocol", `The server sent more than ${MAX_HEADER_BYTES} bytes of headers.`, {
      cause: error,
    });
  if (/^(HPE_|UND_ERR_)/.test(code))
    return new WebError("protocol", `The server broke the connection or the protocol (${code}).`, { cause: error });
  return new WebError("network", `The server cannot be reached (${code}).`, { cause: error });
}
