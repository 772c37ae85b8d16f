import { createHash, randomBytes } from "node:crypto";
import type { RoleId } from "@mrlm/spec";
import { ApiError } from "../gateway/api-error.ts";
import type { Codec, ModelAnswer, ModelCall } from "../gateway/codec.ts";
import { CODECS, codecOf } from "../gateway/codecs.ts";
import { modelList } from "../gateway/model-list.ts";
import { errorReply, reply, type ReplyTimes } from "../gateway/reply.ts";
import { writeAnswer } from "../gateway/write-answer.ts";
import { parseClientJson } from "../http/parse-client-json.ts";
import { messageText } from "../messages.ts";
import type { AgentLimits, CallRule } from "./types.ts";

/** Requests for each call of the limit, with those that are none: of another route, with another key, and retries. */
const REQUESTS = 20;

/** Request of a program, over a socket or without one. */
export interface ProgramRequest {
  readonly method: string;
  /** Path after the base URL, such as `/chat/completions`. */
  readonly path: string;
  readonly headers: Headers;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
  /** Reads the body. Throws ApiError with status 413. */
  text(maxBytes: number): Promise<string>;
}

/** Call of a program, from its arrival to the end of the episode. */
export interface ProgramCall {
  readonly number: number;
  readonly call: ModelCall;
  readonly codec: Codec;
  readonly role: RoleId;
  readonly bodyHash: string;
  readonly answer: PromiseWithResolvers<ModelAnswer>;
  isQueued: boolean;
  /** Open responses. */
  readers: number;
  /** Whether the program has read a part of the answer. */
  isRead: boolean;
  /** Times of the arrival of the call, and of each retry of it, in milliseconds of `performance.now()`. */
  readonly times: number[];
}

export interface ProgramCallsOptions {
  readonly roles: readonly RoleId[];
  readonly limits: Pick<AgentLimits, "calls" | "waiting" | "bodyBytes">;
  readonly rules: readonly CallRule[];
  /** Beginning of the ids of responses. */
  readonly id: string;
  readonly times?: ReplyTimes | undefined;
  /** Called when a call waits. */
  onCall(): void;
  /** Called for each call above the limit. */
  onLimit(): void;
  /** Called for a fault of the gateway itself. */
  onFault(error: unknown): void;
}

/** Calls of the program of one episode: access, form, retries, and the queue of those that wait for the policy. */
export class ProgramCalls {
  readonly apiKey = `mrlm-${randomBytes(24).toString("hex")}`;
  readonly counts = { calls: 0, retried: 0, refused: 0 };
  readonly #options: ProgramCallsOptions;
  #queue: ProgramCall[] = [];
  readonly #accepted: ProgramCall[] = [];
  readonly #droppedBodies = new Map<string, number>();
  #arrived = 0;
  #isClosed = false;

  constructor(options: ProgramCallsOptions) {
    this.#options = options;
  }

  get roles(): readonly RoleId[] {
    return this.#options.roles;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isWaiting(): boolean {
    return this.#queue.length > 0;
  }

  /** Takes the call that arrived first. */
  take(): ProgramCall | undefined {
    const first = this.#queue.toSorted((a, b) => a.number - b.number)[0];
    this.#remove(first);
    return first;
  }

  /** Revokes the key, and answers what waits with an error. */
  close(error: ApiError): void {
    this.#isClosed = true;
    for (const { answer } of this.#accepted) answer.reject(error);
    this.#queue = [];
  }

  /** Answers a request. Rejects with the reason of its signal. */
  async handle(request: ProgramRequest): Promise<Response> {
    try {
      return await this.#route(request);
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      if (error instanceof ApiError) this.counts.refused++;
      else this.#options.onFault(error);
      return errorReply(error, codecFor(request));
    }
  }

  async #route(request: ProgramRequest): Promise<Response> {
    const { method, path, headers, signal } = request;
    const { limits } = this.#options;
    const number = this.#arrived++;
    if (number >= limits.calls * REQUESTS && !this.#isClosed) throw this.#limitMet();
    if (this.#isClosed || !this.#hasKey(headers))
      throw new ApiError(
        401,
        "invalid_api_key",
        "The key is of no running episode. Use `model.apiKey` of the episode.",
      );
    const { roles, rules } = this.#options;
    if (method === "GET" && path.startsWith("/models")) {
      const list = modelList(roles.map((id) => ({ id, created: 0 })));
      const found = path === "/models" ? list : list.data.find(({ id }) => path === `/models/${String(id)}`);
      if (found !== undefined) return Response.json(found);
    }
    if (path === "/messages/count_tokens")
      throw new ApiError(
        404,
        "not_found",
        "An episode does not know the tokens of its policy, and counts none. Limit a history by its characters, or by the error `context_length_exceeded`.",
      );
    const codec = CODECS.find((each) => each.path === path);
    if (method !== "POST" || codec === undefined)
      throw new ApiError(404, "not_found", `There is no route ${method} ${path.slice(0, 100)}.`);
    const body = await request.text(limits.bodyBytes).catch((error: unknown) => {
      throw error instanceof ApiError
        ? error
        : new ApiError(400, "invalid_value", "The body of the request is cut off.");
    });
    const bodyHash = createHash("sha256").update(body).digest("hex").slice(0, 16);
    const earlier = this.#retried(bodyHash, Number(headers.get("x-stainless-retry-count") ?? 0) >= 1);
    if (earlier !== undefined) {
      this.counts.retried++;
      earlier.times.push(performance.now());
      return this.#reply(earlier, signal);
    }
    if (++this.counts.calls > limits.calls) throw this.#limitMet();
    const call = codec.read(parsed(body));
    const rule = rules.find(({ when }) => holds(when, call));
    const answer = Promise.withResolvers<ModelAnswer>();
    answer.promise.catch(() => undefined);
    const named = [rule !== undefined && "role" in rule ? rule.role : call.model, headers.get("x-mrlm-agent")];
    const role = named.find((each) => each !== null && roles.includes(each)) ?? (roles[0] as RoleId);
    const made = {
      number,
      call,
      codec,
      role,
      bodyHash,
      answer,
      isQueued: true,
      readers: 0,
      isRead: false,
      times: [performance.now()],
    };
    if (rule !== undefined && "answer" in rule) {
      const message = { role: "assistant", parts: [{ type: "text", text: rule.answer }] } as const;
      answer.resolve({ message, finishReason: "stop" });
      return this.#reply({ ...made, isQueued: false }, signal);
    }
    // The episode may have ended while the body arrived.
    if (this.#isClosed) throw new ApiError(503, "server_error", "The episode has ended.");
    if (this.#queue.length >= limits.waiting) {
      this.#dropped(bodyHash);
      throw new ApiError(429, "rate_limit_exceeded", `The program has ${limits.waiting} calls that wait.`, {
        retryAfterSeconds: 1,
      });
    }
    this.#accepted.push(made);
    this.#queue.push(made);
    this.#options.onCall();
    return this.#reply(made, signal);
  }

  #limitMet(): ApiError {
    this.#options.onLimit();
    const { calls } = this.#options.limits;
    return new ApiError(400, "agent_call_limit", `The program has made ${calls} calls, the most of an episode.`);
  }

  #hasKey(headers: Headers): boolean {
    return keyOf(headers) === this.apiKey;
  }

  /** Finds the call that a request repeats: one whose client has left without the answer, else by the header the latest with an equal body. */
  #retried(bodyHash: string, isRetry: boolean): ProgramCall | undefined {
    const equal = this.#accepted.filter((each) => each.bodyHash === bodyHash);
    const left = equal.findLast(({ readers, isRead }) => readers === 0 && !isRead);
    if (left !== undefined || !isRetry) return left;
    const dropped = this.#droppedBodies.get(bodyHash) ?? 0;
    if (dropped === 0) return equal.at(-1);
    this.#droppedBodies.set(bodyHash, dropped - 1);
    return undefined;
  }

  /** Notes a request without an answer: its retry is a call of its own, also where another call has an equal body. */
  #dropped(bodyHash: string): void {
    this.#droppedBodies.set(bodyHash, (this.#droppedBodies.get(bodyHash) ?? 0) + 1);
  }

  #reply(made: ProgramCall, signal: AbortSignal): Promise<Response> {
    const { call, codec, answer, number } = made;
    made.readers++;
    const parts = answer.promise.then((each) => writeAnswer(codec, call, each, `${this.#options.id}-${number}`));
    parts.catch(() => undefined);
    return reply(parts, {
      isStream: call.stream,
      codec,
      signal,
      times: this.#options.times,
      onEnd: (isRead) => {
        made.readers--;
        made.isRead ||= isRead;
        // A call without a client is not sampled.
        if (made.isQueued && made.readers === 0) {
          this.#remove(made);
          this.#accepted.splice(this.#accepted.indexOf(made), 1);
          this.#dropped(made.bodyHash);
        }
      },
    });
  }

  #remove(call: ProgramCall | undefined): void {
    if (call === undefined) return;
    call.isQueued = false;
    this.#queue = this.#queue.filter((each) => each !== call);
  }
}

/** Returns the key of a request, in the header of Anthropic's API or of the others. */
export function keyOf(headers: Headers): string | undefined {
  return headers.get("x-api-key") ?? headers.get("authorization")?.replace(/^bearer +/i, "");
}

/** Returns the form of the API of a request. */
export function codecFor({ path, headers }: Pick<ProgramRequest, "path" | "headers">): Codec {
  return codecOf(path, headers.has("anthropic-version"));
}

/** Returns the error of a body above the limit. */
export function bodyTooLarge(maxBytes: number): ApiError {
  return new ApiError(413, "request_too_large", `The body of the request has more than ${maxBytes} bytes.`);
}

function holds({ system, tool, schema }: CallRule["when"], { messages, tools, format }: ModelCall): boolean {
  const text = messages.flatMap((message) => (message.role === "system" ? [messageText(message)] : [])).join("\n");
  return (
    (system === undefined || text.search(system) >= 0) &&
    (tool === undefined || tools.some(({ name }) => name === tool)) &&
    (schema === undefined || format?.name === schema)
  );
}

function parsed(text: string): unknown {
  try {
    return parseClientJson(text);
  } catch (error) {
    throw new ApiError(400, "invalid_value", `The body of the request is not JSON: ${(error as Error).message}.`);
  }
}
