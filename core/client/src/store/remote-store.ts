import type { ClientDuplexStream, ClientReadableStream, MethodDefinition } from "@grpc/grpc-js";
import { MrlmError, type TrajectoryGroup } from "@mrlm/spec";
import type { EpisodeStore, Lease, StoreEvent } from "@mrlm/spec/host";
import {
  eventCodec,
  groupsCodec,
  leaseCodec,
  memberCodec,
  storeDescriptionCodec,
  takenHeadCodec,
  weightsCodec,
  cohortCodec,
  creditCodec,
  jsonCodec,
  recordHeadCodec,
  takeRecordCodec,
  FRAME_BYTES,
  fromInt64,
  isConnectionLoss,
  STORE_SERVICE,
  type storeProto as wire,
  toInt64,
} from "@mrlm/wire";
import { onAbort, pause } from "../connection/aborts.ts";
import { Backoff } from "../connection/backoff.ts";
import type { Channel } from "../connection/channel.ts";
import type { CallOptions, Connection } from "../connection/connection.ts";
import type { ServedStore } from "./served-store.ts";

type Method<Request, Response> = MethodDefinition<Request, Response>;

/** Client of a store server. It makes one call after the other, in their order; `watch` and `describe` stand beside them. */
export class RemoteStore implements ServedStore {
  readonly #connection: Connection;
  readonly #options: CallOptions;
  #last = 0n;
  #tail: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(connection: Connection, options: CallOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async describe(waitMs = this.#options.waitMs) {
    const options = { ...this.#options, waitMs };
    return storeDescriptionCodec.decode(await this.#connection.unary(STORE_SERVICE.describe, {}, options));
  }

  open: EpisodeStore["open"] = async (cohort) => {
    await this.#write(STORE_SERVICE.open, { cohort: cohortCodec.encode(cohort) });
  };

  lease: EpisodeStore["lease"] = async (worker, limit, ttlMs) =>
    (await this.#write(STORE_SERVICE.lease, { worker, limit, ttlMs })).leases.map(leaseCodec.decode);

  renew: EpisodeStore["renew"] = async (leases, ttlMs) =>
    (await this.#write(STORE_SERVICE.renew, { leases: leases.map(leaseCodec.encode), ttlMs })).lost;

  commit: EpisodeStore["commit"] = async (lease, groups, { isLast, take }) => {
    const result = await this.#commit(lease, groups, isLast);
    if (result === "late" || !isLast || take === undefined) return result;
    const batch = await this.take(...take);
    return typeof batch === "string" ? result : batch;
  };

  #commit(lease: Lease, groups: readonly TrajectoryGroup[], isLast: boolean): Promise<"accepted" | "late"> {
    return this.#inOrder(async () => {
      const about = { lease: leaseCodec.encode(lease) };
      let message: wire.Group[] | undefined;
      for (const next of groupsCodec.encode(groups)) {
        if (message !== undefined) {
          const part = { ...about, groups: message, last: false };
          if ((await this.#send(STORE_SERVICE.commit, part)).late) return "late";
        }
        message = next;
      }
      const { late } = await this.#send(STORE_SERVICE.commit, { ...about, groups: message ?? [], last: isLast });
      return late ? "late" : "accepted";
    });
  }

  take: EpisodeStore["take"] = (learner, { step, refill }, count, { from, checksum }, record, appliedBefore) =>
    this.#inOrder(async () => {
      const request = {
        call: ++this.#last,
        learner,
        step,
        refill,
        count,
        from,
        checksum: checksum ?? undefined,
        record: takeRecordCodec.encode(record),
        appliedBefore,
      };
      const messages = await this.#connection.call(
        (channel) => this.#collect(channel.serverStream(STORE_SERVICE.take, request)),
        this.#options,
      );
      const head = takenHeadCodec.decode(messages[0]?.head);
      if (typeof head === "string") return head;
      return { ...head, groups: groupsCodec.decode(messages.flatMap(({ groups }) => groups)) };
    });

  refuse: EpisodeStore["refuse"] = async (learner, at, groups) => {
    await this.#write(STORE_SERVICE.refuse, { learner, ...at, groups: [...groups] });
  };

  settle: EpisodeStore["settle"] = (learner, step, { credits, isApplied }) =>
    this.#inOrder(async () => {
      const messages = inMessages(
        credits.map(creditCodec.encode),
        ({ weight, logprobs }) =>
          (weight?.$case === "advantages" ? weight.advantages.length : 8) + (logprobs?.length ?? 0),
      );
      for (const [i, part] of messages.entries()) {
        const applied = isApplied && i === messages.length - 1;
        await this.#send(STORE_SERVICE.settle, { learner, step, credits: part, applied });
      }
    });

  abandon: EpisodeStore["abandon"] = async (learner, fromStep) => {
    await this.#write(STORE_SERVICE.abandon, { learner, fromStep });
  };

  buffer: EpisodeStore["buffer"] = (learner) =>
    this.#inOrder(() => this.#connection.unary(STORE_SERVICE.buffer, { learner }, this.#options));

  record: EpisodeStore["record"] = ({ groups, ...played }) =>
    this.#inOrder(async () => {
      // A server that is restarted does not know the number of a repeated call, but the store knows the id.
      const head = recordHeadCodec.encode({ id: crypto.randomUUID(), ...played }, ++this.#last);
      await this.#connection.call(async (channel) => {
        const stream = channel.duplex(STORE_SERVICE.record);
        const received = this.#collect(stream);
        received.catch(() => undefined);
        await written(stream, { head, groups: [], last: false });
        for (const part of groupsCodec.encode(groups))
          await written(stream, { head: undefined, groups: part, last: false });
        await written(stream, { head: undefined, groups: [], last: true });
        stream.end();
        await received;
      }, this.#options);
    });

  announce: EpisodeStore["announce"] = async (weights) => {
    await this.#write(STORE_SERVICE.announce, { weights: weightsCodec.encode(weights) });
  };

  newest: EpisodeStore["newest"] = (policy) =>
    this.#inOrder(async () => {
      const { weights } = await this.#connection.unary(STORE_SERVICE.newest, { policy }, this.#options);
      return weights === undefined ? undefined : weightsCodec.decode(weights);
    });

  mirror: EpisodeStore["mirror"] = (rows) =>
    this.#inOrder(async () => {
      for (const rowsJson of inMessages(rows.map(jsonCodec.encode), Buffer.byteLength))
        await this.#send(STORE_SERVICE.mirror, { rowsJson });
    });

  prune: EpisodeStore["prune"] = async (beforeRunStep) => {
    await this.#write(STORE_SERVICE.prune, { beforeRunStep });
  };

  join: EpisodeStore["join"] = async (member) => {
    await this.#write(STORE_SERVICE.join, { member: memberCodec.encode(member) });
  };

  leave: EpisodeStore["leave"] = async (id) => {
    await this.#write(STORE_SERVICE.leave, { id });
  };

  members: EpisodeStore["members"] = () =>
    this.#inOrder(async () =>
      (await this.#connection.unary(STORE_SERVICE.members, {}, this.#options)).members.map(memberCodec.decode),
    );

  flush: EpisodeStore["flush"] = async () => {
    await this.#inOrder(() => this.#connection.unary(STORE_SERVICE.flush, {}, this.#options));
  };

  /** Continues behind the last event after the loss of a server. */
  async *watch(after: number, signal: AbortSignal): AsyncGenerator<StoreEvent, void, undefined> {
    const backoff = new Backoff();
    let last = after;
    while (!signal.aborted) {
      const { signals = [], waitMs } = this.#options;
      let channel: Channel | undefined;
      let stream: ReturnType<typeof channelWatch> | undefined;
      let forget: (() => void) | undefined;
      try {
        channel = await this.#connection.reach({ signals: [...signals, signal], waitMs });
        stream = channelWatch(channel, last);
        forget = onAbort([...signals, signal], stream.cancel.bind(stream));
        for await (const { event } of stream as AsyncIterable<wire.WatchResponse>) {
          if (event === undefined) continue;
          backoff.reset();
          last = fromInt64(event.number, "the number of an event");
          yield eventCodec.decode(event);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (channel === undefined || signals.some(({ aborted }) => aborted)) throw this.#connection.errorOf(error);
        if (isConnectionLoss(error)) this.#connection.lost(channel, error);
        else if (!this.#connection.renews(error)) throw this.#connection.errorOf(error);
      } finally {
        forget?.();
        stream?.cancel();
      }
      // The server ended the stream: it stops, or the token has expired.
      await pause(backoff.next(), [signal], "A watch").catch(() => undefined);
    }
  }

  /** Waits for the calls under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#tail;
    this.#connection.close();
  }

  #write<Request extends { readonly call: bigint }, Response>(
    method: Method<Request, Response>,
    request: Omit<Request, "call">,
  ): Promise<Response> {
    return this.#inOrder(() => this.#send(method, request));
  }

  /** Makes a numbered call. Repetitions after connection losses have its number. */
  #send<Request extends { readonly call: bigint }, Response>(
    method: Method<Request, Response>,
    request: Omit<Request, "call">,
  ): Promise<Response> {
    return this.#connection.unary(method, { ...request, call: ++this.#last } as Request, this.#options);
  }

  /** Starts work when the calls before have ended. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed)
      return Promise.reject(
        new MrlmError("STORE_FAILED", `The store at ${this.#connection.address} was used after it had been closed.`),
      );
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Returns all messages of a call, which the signals of this store end. */
  async #collect<Response>(stream: ClientReadableStream<Response>): Promise<Response[]> {
    const messages: Response[] = [];
    const forget = onAbort(this.#options.signals ?? [], () => stream.cancel());
    stream.on("error", () => undefined);
    try {
      for await (const message of stream) messages.push(message as Response);
      return messages;
    } finally {
      forget();
    }
  }
}

function channelWatch(channel: Channel, after: number) {
  const stream = channel.serverStream(STORE_SERVICE.watch, { after: toInt64(after, "the number of an event") });
  // The end of a cancelled stream is no error.
  return stream.on("error", () => undefined);
}

/** Writes a message, and waits while the stream accepts no more. */
async function written<Request>(stream: ClientDuplexStream<Request, unknown>, message: Request): Promise<void> {
  if (stream.destroyed || stream.write(message)) return;
  await new Promise<void>((resolve) => void (stream.once("drain", resolve), stream.once("close", resolve)));
}

/** Divides items into lists of about {@link FRAME_BYTES}, each of one item at least. There is one empty list where there are no items. */
function inMessages<T>(items: readonly T[], sizeOf: (item: T) => number): T[][] {
  let message: T[] = [];
  const messages = [message];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (message.length > 0 && bytes + size > FRAME_BYTES) {
      messages.push((message = []));
      bytes = 0;
    }
    message.push(item);
    bytes += size;
  }
  return messages;
}
