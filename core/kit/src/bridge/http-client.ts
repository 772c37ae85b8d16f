import { type JsonValue, MrlmError } from "@mrlm/spec";
import { readRemoteJson } from "./remote-json.ts";

/** Part of `fetch` that a client uses. The package of a bridge gives the one of its HTTP library. */
export type Fetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly signal: AbortSignal;
    readonly redirect: "manual";
  },
) => Promise<HttpResponse>;

/** Part of a response that a client uses. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** Request to a server, with a path below its URL. */
export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: JsonValue;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Largest answer, event and message of a server, in bytes. One that sends more is cut off, so that it does not fill the memory. */
export const MAX_ANSWER_BYTES = 64 * 1_048_576;

const MAX_REDIRECTS = 3;
const QUOTED = 300;

/** HTTP client of one server. */
export class HttpClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: Fetch;

  /** @param headers headers of every request, which carry the token. They reach the origin of the URL only */
  constructor(url: string, headers: Readonly<Record<string, string>>, fetch: Fetch) {
    this.#url = url.replace(/\/+$/, "");
    this.#headers = headers;
    this.#fetch = fetch;
  }

  /** URL of the server without a slash at its end. */
  get url(): string {
    return this.#url;
  }

  /** Sends a request. Rejects with BRIDGE_UNREACHABLE, BRIDGE_REFUSED for a redirect to another origin, and with the reason of the signal. */
  async send({ method, path, body, headers = {}, signal }: HttpRequest): Promise<HttpResponse> {
    let url = `${this.#url}${path}`;
    const { origin } = new URL(url);
    for (let redirects = 0; ; redirects++) {
      const response = await this.#once(url, {
        method,
        headers: {
          ...this.#headers,
          ...headers,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal,
        redirect: "manual",
      });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || location === null) return response;
      await this.text(response, signal);
      const next = new URL(location, url);
      if (next.origin !== origin || redirects === MAX_REDIRECTS)
        throw new MrlmError(
          "BRIDGE_REFUSED",
          `${url} redirects to ${next.origin}, and headers are for ${origin} alone.`,
        );
      url = next.href;
    }
  }

  /** Sends a request and reads the JSON of its answer. Rejects as `send` does, with the error of a status of 400 or above, and with BRIDGE_RESPONSE_INVALID. */
  async json(request: HttpRequest): Promise<JsonValue> {
    return this.read(await this.send(request), request);
  }

  /** Reads the JSON of an answer. Rejects as `json` does. */
  async read(response: HttpResponse, request: HttpRequest): Promise<JsonValue> {
    const text = await this.text(response, request.signal);
    const what = `The answer to ${request.method} ${request.path}`;
    if (response.status >= 400) throw statusError(what, response.status, text);
    return readRemoteJson(text, what);
  }

  /** Reads a body. Rejects with BRIDGE_LOST when the connection ends before, BRIDGE_RESPONSE_INVALID for more than 64 MiB. */
  async text({ body }: HttpResponse, signal: AbortSignal): Promise<string> {
    const decoder = new TextDecoder();
    let [text, bytes] = ["", 0];
    try {
      for await (const chunk of body ?? []) {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) throw tooLarge(`An answer of ${this.#url}`);
        text += decoder.decode(chunk, { stream: true });
      }
      return text + decoder.decode();
    } catch (cause) {
      if (MrlmError.isInstance(cause)) throw cause;
      signal.throwIfAborted();
      throw new MrlmError("BRIDGE_LOST", `The connection to ${this.#url} ended in mid-answer: ${reasonOf(cause)}`, {
        cause,
      });
    }
  }

  async #once(url: string, init: Parameters<Fetch>[1]): Promise<HttpResponse> {
    init.signal.throwIfAborted();
    try {
      return await this.#fetch(url, init);
    } catch (cause) {
      init.signal.throwIfAborted();
      throw new MrlmError("BRIDGE_UNREACHABLE", `${this.#url} cannot be reached: ${reasonOf(cause)}`, { cause });
    }
  }
}

/** Returns the error of a status of 400 or above. */
export function statusError(what: string, status: number, text: string): MrlmError {
  const code = status >= 500 || status === 408 || status === 429 ? "BRIDGE_FAILED" : "BRIDGE_REFUSED";
  return new MrlmError(code, `${what} has status ${status}: ${text.trim().slice(0, QUOTED) || "no text"}`);
}

/** Returns the error of an answer, event or message above {@link MAX_ANSWER_BYTES}. */
export function tooLarge(what: string): MrlmError {
  return new MrlmError("BRIDGE_RESPONSE_INVALID", `${what} is larger than ${MAX_ANSWER_BYTES / 1_048_576} MiB.`, {
    hint: "Make the observations of that environment smaller, or send large data by a file.",
  });
}

/** Returns the innermost reason of an error of a connection. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return reasonOf(cause);
  return error.message === "" ? ((error as NodeJS.ErrnoException).code ?? error.name) : error.message;
}
