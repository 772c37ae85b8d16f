import { MrlmError, parseJson } from "@mrlm/spec";
import { Agent, request } from "undici";

/** Longest answer in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Answer of the server. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** HTTP client of one server. */
export class VllmHttp {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #dispatcher: Agent;

  constructor(url: string, apiKey?: string) {
    this.url = url.replace(/\/+$/, "");
    this.#headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    // Answers take as long as their sequences: each call has a time limit of its own.
    // Each has a connection of its own too: the server closes an idle one while a request is on its way.
    this.#dispatcher = new Agent({ pipelining: 0, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 30_000 } });
  }

  /** Sends a request and reads the whole answer. Rejects with SAMPLER_UNAVAILABLE, also for an answer that ends early or is too late, and with the error that is the reason of `signal`. */
  async call(
    method: "GET" | "POST",
    path: string,
    body: unknown,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Answer> {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const response = await request(`${this.url}${path}`, {
        method,
        headers: { ...this.#headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        dispatcher: this.#dispatcher,
        signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      });
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        bytes += chunk.byteLength;
        if (bytes > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
        chunks.push(chunk);
      }
      return { status: response.statusCode, text: Buffer.concat(chunks).toString("utf8") };
    } catch (error) {
      if (MrlmError.isInstance(signal?.reason)) throw signal.reason;
      const reason = limit.aborted
        ? `it did not answer within ${timeoutMs / 1000} s`
        : (error as Error).message || String((error as { code?: unknown }).code);
      throw new MrlmError("SAMPLER_UNAVAILABLE", `vLLM at ${this.url} failed to answer ${path}: ${reason}.`, {
        cause: error,
      });
    }
  }

  /** Sends a request and reads the JSON of its answer. Rejects with SAMPLER_INVALID for another one, and for another status than 200. */
  async json(method: "GET" | "POST", path: string, body: unknown, timeoutMs: number): Promise<unknown> {
    const answer = await this.call(method, path, body, { timeoutMs });
    if (answer.status !== 200) throw refused(this.url, path, answer);
    return readJson(answer.text, path);
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/** Parses the text of an answer. Throws SAMPLER_INVALID. */
export function readJson(text: string, path: string): unknown {
  try {
    return text === "" ? undefined : parseJson(text);
  } catch (error) {
    throw new MrlmError("SAMPLER_INVALID", `The answer of vLLM to ${path} is no JSON: ${text.slice(0, 80)}`, {
      cause: error,
    });
  }
}

/** Returns the error for a status other than 200. */
export function refused(url: string, path: string, { status, text }: Answer): MrlmError {
  const about = `vLLM at ${url} answered ${path} with ${status}: ${text.slice(0, 300)}`;
  if (status === 403 || status === 404)
    return new MrlmError("SAMPLER_INVALID", about, {
      hint: "Start vLLM with VLLM_SERVER_DEV_MODE=1 and --enable-scale-out; the README of @mrlm/sampler-vllm has all flags.",
    });
  if (status === 401)
    return new MrlmError("UNAUTHENTICATED", about, { hint: "Name the key by the option `api_key_env`." });
  return new MrlmError(status >= 500 ? "SAMPLER_UNAVAILABLE" : "SAMPLER_INVALID", about);
}
