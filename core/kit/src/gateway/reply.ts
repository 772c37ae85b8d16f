import { ApiError } from "./api-error.ts";
import type { Codec } from "./codec.ts";

/** Times of a response whose answer does not exist yet, in milliseconds. Clients give up without a byte for 300 s. */
export interface ReplyTimes {
  /** After it a response that is not streamed begins. */
  readonly beginMs: number;
  /** Between two signs of life of a response. */
  readonly everyMs: number;
}

const TIMES: ReplyTimes = { beginMs: 30_000, everyMs: 10_000 };
const encoder = new TextEncoder();

/**
 * Returns the response to a call. A stream begins at once, and sends a comment from time to time until the answer exists; another response sends white space, which JSON permits before
 * a value. An error of a response that has begun is an event of a stream, and ends the connection of another response: the retry gets it with its status.
 *
 * Rejects with the error of the answer before the response has begun, and with the reason of the signal.
 *
 * @param answer parts of the body
 * @param options.signal aborted when the client leaves
 * @param options.onEnd called once, with whether the client has read a part of the answer, or its error
 */
export async function reply(
  answer: Promise<readonly string[]>,
  options: {
    readonly isStream: boolean;
    readonly codec: Codec;
    readonly signal: AbortSignal;
    readonly times?: ReplyTimes | undefined;
    onEnd(isRead: boolean): void;
  },
): Promise<Response> {
  const { isStream, codec, signal, times = TIMES } = options;
  const { promise: gone, reject: leave } = Promise.withResolvers<never>();
  gone.catch(() => undefined);
  let isOver = false;
  let next = 0;
  const end = (isRead: boolean): void => {
    signal.removeEventListener("abort", onAbort);
    if (!isOver) options.onEnd(isRead);
    isOver = true;
  };
  const onAbort = (): void => {
    leave(signal.reason);
    end(next > 0);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  let parts: readonly string[] | undefined;
  try {
    if (!isStream) parts = await within(times.beginMs, answer, gone);
  } catch (error) {
    end(true);
    throw error;
  }
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const write = (text: string): void => controller.enqueue(encoder.encode(text));
        if (signal.aborted) return controller.error(signal.reason);
        try {
          parts ??= await within(times.everyMs, answer, gone);
        } catch (error) {
          end(true);
          if (!isStream || signal.aborted) return controller.error(error);
          write(codec.event(codec.error(apiErrorOf(error))));
          return controller.close();
        }
        if (parts === undefined) return write(isStream ? ": waiting\n\n" : " ");
        write(parts[next++] ?? "");
        if (next < parts.length) return;
        controller.close();
        end(true);
      },
      cancel: () => end(next > 0),
    },
    { highWaterMark: 0 },
  );
  const type = isStream ? "text/event-stream; charset=utf-8" : "application/json";
  return new Response(body, { headers: { "content-type": type, "cache-control": "no-cache" } });
}

/** Returns the response of an error. */
export function errorReply(thrown: unknown, codec: Codec): Response {
  const error = apiErrorOf(thrown);
  const { status, retryAfterSeconds } = error;
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return Response.json(codec.error(error), { status, headers });
}

function apiErrorOf(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(500, "server_error", `The gateway failed: ${String(error)}`);
}

/** Waits up to `ms`. Resolves with `undefined` after it. */
async function within<T>(ms: number, ...promises: readonly Promise<T>[]): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([...promises, late]);
  } finally {
    clearTimeout(timer);
  }
}
