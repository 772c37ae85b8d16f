import { randomUUID } from "node:crypto";
import { raw, type RawResponse } from "./raw.ts";

/** Event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Result of `/call`. */
export interface Called {
  readonly ok: boolean;
  readonly error?: string;
  readonly reason?: string;
  readonly output?: {
    readonly blocks: readonly { readonly type: string; readonly text?: string }[];
    readonly metadata: { readonly mrlm: Readonly<Record<string, unknown>> };
    readonly reward: number | null;
    readonly finished: boolean;
  };
}

/** Reads a stream as ORS clients do: they remove white space at the start of each line of data. */
export function eventsOf(text: string): StreamEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event: "))
    .map((block) => {
      const [first = "", second = ""] = block.split("\n");
      return { event: first.slice("event: ".length), data: second.slice("data:".length).trimStart() };
    });
}

/** Joins the events of a stream to its result. An `error` event is returned as text. */
export function resultOf(text: string): unknown {
  const events = eventsOf(text);
  const last = events.at(-1);
  if (last?.event !== "end") return last?.data;
  return JSON.parse(
    events
      .filter(({ event }) => event === "chunk" || event === "end")
      .map(({ data }) => data)
      .join(""),
  );
}

/** Session of ORS over plain HTTP. */
export class OrsClient {
  readonly sid: string;
  readonly #url: (path: string) => URL;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    url: (path: string) => URL,
    options: {
      readonly sid?: string;
      readonly prefix?: string;
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    this.#url = url;
    this.sid = options.sid ?? randomUUID();
    this.#prefix = options.prefix ?? "/sums@1";
    this.#headers = { "x-session-id": this.sid, ...options.headers };
  }

  /** Starts an episode of a task. */
  async create(index = 0, more: object = {}): Promise<RawResponse> {
    const body = { split: "train", index, env_name: this.#prefix.slice(1) || null, ...more };
    return this.post("/create", body);
  }

  get(path: string): Promise<RawResponse> {
    return raw(this.#url(this.#prefix + path), { headers: this.#headers });
  }

  post(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<RawResponse> {
    return raw(this.#url(this.#prefix + path), { body, method: "POST", headers: { ...this.#headers, ...headers } });
  }

  /** Calls a tool. @returns the result, or the text of an `error` event */
  async call(name: string, input: object = {}): Promise<Called> {
    const response = await this.post("/call", { name, input });
    return response.status === 200 ? (resultOf(response.text) as Called) : (response.body as Called);
  }
}
