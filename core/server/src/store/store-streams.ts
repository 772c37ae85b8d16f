import type { ServerDuplexStream, ServerWritableStream } from "@grpc/grpc-js";
import type { Tokens } from "@mrlm/kit/access";
import type { Logger } from "@mrlm/spec";
import type { TakenBatch, TakeRule } from "@mrlm/spec/host";
import {
  groupsCodec,
  recordHeadCodec,
  takeRecordCodec,
  eventCodec,
  takenHeadCodec,
  fromInt64,
  invalid,
  statusOfError,
  type storeProto as wire,
} from "@mrlm/wire";
import { authorizationOf, callerOf } from "../service/caller.ts";
import { logFault } from "../sessions/log-fault.ts";
import { assertDecoded } from "../unary.ts";
import type { ClientCalls } from "./client-calls.ts";
import type { StoreSource } from "./store-methods.ts";

/** A call whose response is a stream. */
interface Responding<Response> {
  readonly destroyed: boolean;
  write(message: Response): boolean;
  end(): unknown;
  once(event: "drain" | "close", listener: () => void): unknown;
  on(event: "cancelled", listener: () => void): unknown;
  emit(event: "error", error: unknown): unknown;
}

/** Returns the methods of StoreService that stream. */
export function storeStreams(
  source: StoreSource,
  calls: ClientCalls,
  {
    logger,
    stop,
    tokens,
  }: { readonly logger: Logger; readonly stop: AbortSignal; readonly tokens: Tokens | undefined },
) {
  return {
    take(call: ServerWritableStream<wire.TakeRequest, wire.TakeResponse>): void {
      void respond(call, async function* () {
        const { request } = call;
        const batch = await calls.run(callerOf(call).owner, request.call, () => take(request));
        const head = takenHeadCodec.encode(batch);
        if (typeof batch === "string") return yield { head, groups: [] };
        yield { head, groups: [] };
        for (const groups of groupsCodec.encode(batch.groups)) yield { head: undefined, groups };
      });
    },
    record(call: ServerDuplexStream<wire.RecordRequest, wire.RecordResponse>): void {
      void respond(call, async function* () {
        const messages: wire.RecordRequest[] = [];
        for await (const message of call) {
          assertDecoded(message);
          messages.push(message as wire.RecordRequest);
        }
        if (messages.at(-1)?.last !== true) throw invalid("recorded groups lack their end");
        const head = messages[0]?.head;
        if (head === undefined) throw invalid("recorded groups do not begin with their head");
        await calls.run(callerOf(call).owner, head.call, async () => {
          const groups = groupsCodec.decode(messages.flatMap((message) => message.groups));
          await (await source.store()).record({ ...recordHeadCodec.decode(head), groups });
        });
        yield {};
      });
    },
    watch(call: ServerWritableStream<wire.WatchRequest, wire.WatchResponse>): void {
      void respond(call, async function* (cancelled) {
        const expired = new AbortController();
        // The client of an ended stream watches again, with its new token.
        const forget = tokens?.onExpired(() => {
          if (tokens.holder(authorizationOf(call.metadata)) === undefined) expired.abort();
        });
        const signal = AbortSignal.any([cancelled, stop, expired.signal]);
        try {
          const store = await source.store();
          for await (const event of store.watch(fromInt64(call.request.after, "the number of an event"), signal))
            yield { event: eventCodec.encode(event) };
        } finally {
          forget?.();
        }
      });
    },
  };

  async function take(request: wire.TakeRequest): Promise<TakenBatch | "unready" | "outdated"> {
    const { learner, step, refill, count, record, appliedBefore } = request;
    const store = await source.store();
    return store.take(
      learner,
      { step, refill },
      count,
      decodeTakeRule(request),
      takeRecordCodec.decode(record),
      ...(appliedBefore === undefined ? [] : [appliedBefore]),
    );
  }

  /** Writes messages as fast as the client reads them, then ends the call. */
  async function respond<Response>(
    call: Responding<Response> & { readonly request?: unknown },
    messages: (cancelled: AbortSignal) => AsyncIterable<Response>,
  ): Promise<void> {
    const cancelled = new AbortController();
    call.on("cancelled", () => cancelled.abort());
    try {
      assertDecoded(call.request);
      for await (const message of messages(cancelled.signal)) {
        if (call.destroyed || cancelled.signal.aborted) return;
        if (!call.write(message))
          await new Promise<void>((resolve) => void (call.once("drain", resolve), call.once("close", resolve)));
      }
      call.end();
    } catch (error) {
      logFault(logger, error);
      call.emit("error", statusOfError(error));
    }
  }
}

/** Throws MESSAGE_INVALID for a rule that this version does not know. */
function decodeTakeRule({ from, checksum }: wire.TakeRequest): TakeRule {
  if (from !== "cohorts" && from !== "opened" && from !== "oldest") throw invalid(`a rule takes from "${from}"`);
  return { from, checksum: checksum ?? null };
}
