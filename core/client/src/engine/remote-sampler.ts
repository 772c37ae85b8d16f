import type { ClientDuplexStream } from "@grpc/grpc-js";
import { MrlmError, type ModelId, type Sampler, type SampleRequest, type SampleResult } from "@mrlm/spec";
import { decodeSampleFinish, encodeSampleAdd, type engineProto, ENGINE_SERVICE, isConnectionLoss } from "@mrlm/wire";
import { onAbort } from "../connection/aborts.ts";
import type { EngineConnection } from "./connection.ts";

interface Pending {
  isCancelled: boolean;
  resolve(result: SampleResult): void;
  reject(error: unknown): void;
}

/** Sequences submitted between two barriers. It is kept until its last result, because a wave gives equal bits only when it is repeated whole. */
interface Wave {
  readonly members: Map<bigint, SampleRequest>;
  readonly waiting: Set<bigint>;
  closed: boolean;
}

type Stream = ClientDuplexStream<engineProto.SampleRequest, engineProto.SampleResponse>;

const newWave = (): Wave => ({ members: new Map(), waiting: new Set(), closed: false });

/** A stream of sequences. After a lost connection unfinished waves are submitted again, whole. */
export class RemoteSampler implements Sampler {
  readonly #connection: EngineConnection;
  readonly #model: ModelId;
  readonly #onClose: () => void;
  readonly #pending = new Map<bigint, Pending>();
  #waves: Wave[] = [newWave()];
  #stream: Stream | undefined;
  #nextId = 1n;
  #add: engineProto.SampleAdd[] = [];
  #cancel: bigint[] = [];
  #flushing = false;
  /** The connection is lost: until the waves are repeated nothing is sent. */
  #recovering = false;
  #closed = false;

  constructor(connection: EngineConnection, model: ModelId, onClose: () => void) {
    this.#connection = connection;
    this.#model = model;
    this.#onClose = onClose;
  }

  sample(request: SampleRequest, options: { readonly signal?: AbortSignal } = {}): Promise<SampleResult> {
    if (this.#closed) return Promise.reject(new MrlmError("CANCELLED", "A sampler was used after it had been closed."));
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<SampleResult>();
    const pending: Pending = { isCancelled: false, resolve, reject };
    this.#pending.set(id, pending);
    const wave = this.#waves.at(-1) as Wave;
    wave.members.set(id, request);
    wave.waiting.add(id);
    this.#add.push(encodeSampleAdd(id, request));
    this.#flushSoon();
    const remove = onAbort(options.signal === undefined ? [] : [options.signal], () => {
      pending.isCancelled = true;
      this.#cancel.push(id);
      this.#flushSoon();
    });
    return promise.finally(remove);
  }

  barrier(): void {
    (this.#waves.at(-1) as Wave).closed = true;
    this.#waves.push(newWave());
    this.#flush(true);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stream?.end();
    if (this.#pending.size > 0) this.#stream?.cancel();
    this.#rejectAll(new MrlmError("CANCELLED", "The sampler was closed."));
    this.#onClose();
  }

  /** Everything submitted in one turn of the event loop travels in one message. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      if (!this.#closed) this.#flush(false);
    });
  }

  #flush(barrier: boolean): void {
    if (this.#recovering || (this.#add.length === 0 && this.#cancel.length === 0 && !barrier)) return;
    const message = { open: undefined, add: this.#add, cancel: this.#cancel, barrier };
    this.#add = [];
    this.#cancel = [];
    try {
      (this.#stream ?? this.#connect()).write(message);
    } catch (error) {
      this.#rejectAll(this.#connection.toError(error));
    }
  }

  #connect(): Stream {
    const stream: Stream = this.#connection.open(ENGINE_SERVICE.sample);
    this.#stream = stream;
    stream.on("data", (response: engineProto.SampleResponse) =>
      response.finish.forEach((finish) => this.#finish(finish)),
    );
    const recover = (error: unknown) => {
      if (this.#stream === stream) void this.#recover(error);
    };
    stream.on("error", recover);
    stream.on("end", () =>
      recover(new MrlmError("ENGINE_FAILED", "The engine ended a stream of samples before its last result.")),
    );
    stream.write({ open: { modelId: this.#model, streamTokens: false }, add: [], cancel: [], barrier: false });
    return stream;
  }

  #finish(finish: engineProto.SampleFinish): void {
    const pending = this.#pending.get(finish.id);
    // A wave that was repeated finishes sequences that had finished before.
    if (pending === undefined) return;
    this.#pending.delete(finish.id);
    for (const wave of this.#waves) wave.waiting.delete(finish.id);
    this.#waves = this.#waves.filter(
      (wave, i) => !wave.closed || wave.waiting.size > 0 || i === this.#waves.length - 1,
    );
    try {
      pending.resolve(decodeSampleFinish(finish));
    } catch (error) {
      pending.reject(error);
    }
  }

  async #recover(error: unknown): Promise<void> {
    this.#stream = undefined;
    if (this.#closed || this.#pending.size === 0) return;
    if (!isConnectionLoss(error)) return this.#rejectAll(this.#connection.toError(error));
    this.#recovering = true;
    let first: unknown = error;
    try {
      // The attempt fails once with what happened, so that pauses and the check of the engine's identity are those of every call.
      await this.#connection.retrying(async () => {
        const lost = first;
        first = undefined;
        if (lost !== undefined) throw lost;
        await this.#connection.reach();
      });
      this.#recovering = false;
      this.#repeat();
    } catch (fatal) {
      this.#recovering = false;
      this.#rejectAll(fatal);
    }
  }

  /** Submits what is unfinished, what was submitted during the recovery included. */
  #repeat(): void {
    if (this.#closed || this.#pending.size === 0) return;
    const cancel = [...this.#pending].filter(([, { isCancelled }]) => isCancelled).map(([id]) => id);
    this.#add = [];
    this.#cancel = [];
    const stream = this.#connect();
    for (const wave of this.#waves) {
      const add = Array.from(wave.members, ([id, request]) => encodeSampleAdd(id, request));
      if (add.length > 0) stream.write({ open: undefined, add, cancel: [], barrier: wave.closed });
    }
    if (cancel.length > 0) stream.write({ open: undefined, add: [], cancel, barrier: false });
  }

  #rejectAll(error: unknown): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#waves = [newWave()];
    this.#add = [];
    this.#cancel = [];
    for (const { reject } of pending) reject(error);
  }
}
