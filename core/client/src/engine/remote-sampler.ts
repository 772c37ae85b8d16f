import type { ClientDuplexStream, MethodDefinition } from "@grpc/grpc-js";
import { type ModelId, MrlmError } from "@mrlm/spec";
import type { SampledChunk, SampleOptions, Sampler, SampleRequest, SampleResult } from "@mrlm/spec/host";
import {
  sampleFinishCodec,
  sampleTokensCodec,
  sampleAddCodec,
  isConnectionLoss,
  SAMPLER_SERVICE,
  type samplerProto,
} from "@mrlm/wire";
import { onAbort } from "../connection/aborts.ts";
import type { Channel } from "../connection/channel.ts";

/** Way to the process that samples: one connection, or a choice among several. */
export interface SampleLink {
  /** Returns a channel. Rejects where nothing can sample. */
  reach(): Promise<Channel>;
  open<Request, Response>(
    channel: Channel,
    method: MethodDefinition<Request, Response>,
  ): ClientDuplexStream<Request, Response>;
  /** Reports that the process answered on this channel. */
  confirm(channel: Channel): void;
  /** Reports that a stream lost this channel. */
  lost(channel: Channel, loss: unknown): void;
  /** Reports an error that the process answered. @returns whether another process samples the wave again */
  failed?(channel: Channel, error: unknown): boolean;
  /** Throws for a result that the process cannot have sampled. */
  check?(channel: Channel, result: SampleResult): void;
  errorOf(error: unknown): Error;
  /** Reports the end of the use of a channel. */
  released?(channel: Channel): void;
}

/** Sequences submitted between two barriers. In deterministic mode it is kept until its last result, because only a whole wave can be repeated with equal bits. */
interface Wave {
  readonly members: Map<bigint, PendingSequence>;
  readonly waiting: Set<bigint>;
  closed: boolean;
}

type Stream = ClientDuplexStream<samplerProto.SampleRequest, samplerProto.SampleResponse>;

const newWave = (): Wave => ({ members: new Map(), waiting: new Set(), closed: false });

/** Stream of sequences. After a connection loss unfinished waves are submitted again, whole. */
export class RemoteSampler implements Sampler {
  readonly #link: SampleLink;
  readonly #model: ModelId;
  readonly #onClose: () => void;
  /** Whether a wave is kept whole: other engines have no waves, and repeat single sequences. */
  readonly #keepsWaves: boolean;
  readonly #pending = new Map<bigint, PendingSequence>();
  #waves: Wave[] = [newWave()];
  #stream: Stream | undefined;
  #nextId = 1n;
  #add: samplerProto.SampleAdd[] = [];
  #cancel: bigint[] = [];
  #flushing = false;
  /** Whether a stream is being opened, which will submit every unfinished wave. */
  #isOpening = false;
  #closed = false;

  constructor(
    link: SampleLink,
    model: ModelId,
    options: { readonly isDeterministic: boolean; readonly onClose: () => void },
  ) {
    this.#link = link;
    this.#model = model;
    this.#keepsWaves = options.isDeterministic;
    this.#onClose = options.onClose;
  }

  sample(request: SampleRequest, { signal, onTokens }: SampleOptions = {}): Promise<SampleResult> {
    if (this.#closed) return Promise.reject(new MrlmError("CANCELLED", "A sampler was used after it had been closed."));
    const id = this.#nextId++;
    const pending = new PendingSequence(request, onTokens);
    this.#pending.set(id, pending);
    const wave = this.#waves.at(-1) as Wave;
    wave.members.set(id, pending);
    wave.waiting.add(id);
    this.#add.push(sampleAddCodec.encode(id, request, pending.streamsTokens));
    this.#flushSoon();
    if (signal === undefined) return pending.result;
    const remove = onAbort([signal], () => this.#cancelSequence(id, pending));
    return pending.result.finally(remove);
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

  #cancelSequence(id: bigint, pending: PendingSequence): void {
    pending.isCancelled = true;
    this.#cancel.push(id);
    this.#flushSoon();
  }

  /** Sends the submissions of one turn of the event loop in one message. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      if (!this.#closed) this.#flush(false);
    });
  }

  #flush(barrier: boolean): void {
    if (this.#isOpening || (this.#add.length === 0 && this.#cancel.length === 0 && !barrier)) return;
    if (this.#stream === undefined) return void this.#open();
    const message = { open: undefined, add: this.#add, cancel: this.#cancel, barrier };
    this.#add = [];
    this.#cancel = [];
    this.#stream.write(message);
  }

  /** Opens a stream as soon as the engine can be reached, and submits every unfinished wave. */
  async #open(): Promise<void> {
    this.#isOpening = true;
    try {
      const channel = await this.#link.reach();
      if (!this.#closed && this.#pending.size > 0) this.#submitAll(this.#openOn(channel));
      else this.#link.released?.(channel);
    } catch (error) {
      this.#rejectAll(error);
    } finally {
      this.#isOpening = false;
    }
  }

  #openOn(channel: Channel): Stream {
    const stream: Stream = this.#link.open(channel, SAMPLER_SERVICE.sample);
    this.#stream = stream;
    stream.on("data", (response: samplerProto.SampleResponse) => {
      if (this.#stream !== stream) return;
      this.#link.confirm(channel);
      for (const tokens of response.tokens) this.#receive(tokens);
      for (const finish of response.finish) if (!this.#finish(finish, channel)) return;
    });
    stream.on("close", () => this.#link.released?.(channel));
    const onEnd = (error: unknown): void => {
      if (this.#stream === stream) this.#lost(channel, error);
    };
    stream.on("error", onEnd);
    stream.on("end", () =>
      onEnd(new MrlmError("ENGINE_FAILED", "The engine ended a stream of samples before its last result.")),
    );
    stream.write({ open: { modelId: this.#model }, add: [], cancel: [], barrier: false });
    return stream;
  }

  #lost(channel: Channel, error: unknown): void {
    this.#stream = undefined;
    const isLost = isConnectionLoss(error);
    if (isLost) this.#link.lost(channel, error);
    if (this.#closed) return;
    // Without an unfinished sequence no wave has to be repeated.
    if (this.#pending.size === 0) this.#waves = [newWave()];
    else if (isLost || this.#link.failed?.(channel, this.#link.errorOf(error)) === true) void this.#open();
    else this.#rejectAll(this.#link.errorOf(error));
  }

  #receive(message: samplerProto.SampleTokens): void {
    const pending = this.#pending.get(message.id);
    try {
      pending?.receive(sampleTokensCodec.decode(message));
    } catch (error) {
      this.#cancelSequence(message.id, pending as PendingSequence);
      this.#remove(message.id)?.reject(error);
    }
  }

  /** Removes a sequence that ends. A repeated wave also returns sequences that had ended before, which are unknown. */
  #remove(id: bigint): PendingSequence | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    for (const { waiting, members } of this.#waves) if (waiting.delete(id) && !this.#keepsWaves) members.delete(id);
    this.#waves = this.#waves.filter(
      (wave, i) => !wave.closed || wave.waiting.size > 0 || i === this.#waves.length - 1,
    );
    return pending;
  }

  /** @returns false where the stream has ended, because another process samples its waves again */
  #finish(finish: samplerProto.SampleFinish, channel: Channel): boolean {
    try {
      const result = sampleFinishCodec.decode(finish);
      if (this.#pending.has(finish.id)) this.#link.check?.(channel, result);
      this.#remove(finish.id)?.finish(result);
    } catch (error) {
      if (this.#pending.has(finish.id) && this.#link.failed?.(channel, error) === true) {
        const stream = this.#stream;
        this.#stream = undefined;
        stream?.cancel();
        void this.#open();
        return false;
      }
      this.#remove(finish.id)?.reject(error);
    }
    return true;
  }

  /** Submits the waves with their cancellations, which a barrier must not precede. */
  #submitAll(stream: Stream): void {
    this.#add = [];
    this.#cancel = [];
    for (const { members, closed } of this.#waves) {
      for (const pending of members.values()) pending.repeat();
      const add = Array.from(members, ([id, { request, streamsTokens }]) =>
        sampleAddCodec.encode(id, request, streamsTokens),
      );
      const cancel = [...members].filter(([, { isCancelled }]) => isCancelled).map(([id]) => id);
      if (add.length > 0) stream.write({ open: undefined, add, cancel, barrier: closed });
    }
  }

  #rejectAll(error: unknown): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#waves = [newWave()];
    this.#add = [];
    this.#cancel = [];
    for (const each of pending) each.reject(error);
  }
}

/** Sequence without a result, with the tokens that its caller has received. */
class PendingSequence {
  readonly request: SampleRequest;
  readonly result: Promise<SampleResult>;
  isCancelled = false;
  readonly #onTokens: SampleOptions["onTokens"];
  readonly #settle: Pick<PromiseWithResolvers<SampleResult>, "resolve" | "reject">;
  /** Chunks that the caller has received. */
  readonly #received: SampledChunk[] = [];
  #receivedTokens = 0;
  /** Number of tokens that this submission of the sequence has brought. */
  #arrived = 0;

  constructor(request: SampleRequest, onTokens: SampleOptions["onTokens"]) {
    this.request = request;
    this.#onTokens = onTokens;
    const { promise, resolve, reject } = Promise.withResolvers<SampleResult>();
    this.result = promise;
    this.#settle = { resolve, reject };
  }

  get streamsTokens(): boolean {
    return this.#onTokens !== undefined;
  }

  /** Called when the sequence is submitted again, after a connection loss: its tokens come again from the first on. */
  repeat(): void {
    this.#arrived = 0;
  }

  /**
   * Gives new tokens to the caller, without those that it has received before a connection loss. Throws the error of the caller's function, and ENGINE_FAILED if the
   * repeated tokens are others: only a deterministic engine samples the same again.
   */
  receive(chunk: SampledChunk): void {
    const known = Math.min(chunk.tokens.length, this.#receivedTokens - this.#arrived);
    if (known > 0 && !this.#isRepeated(chunk.tokens.subarray(0, known)))
      throw new MrlmError(
        "ENGINE_FAILED",
        "The connection to the engine was lost while it sent a sequence, and the repeated sequence has other tokens.",
      );
    this.#arrived += chunk.tokens.length;
    if (known === chunk.tokens.length) return;
    const fresh = known > 0 ? fromToken(chunk, known) : chunk;
    this.#received.push(fresh);
    this.#receivedTokens += fresh.tokens.length;
    this.#onTokens?.(fresh);
  }

  /** Resolves with the engine's result, after the tokens that no chunk has brought. */
  finish(result: SampleResult): void {
    if (this.#onTokens === undefined) return this.#settle.resolve(result);
    if (result.tokens.length > this.#arrived) this.receive(fromToken(result, this.#arrived));
    // Log-probabilities of a repeated sequence may differ in the last bits from those that the caller has received.
    this.#settle.resolve({ ...result, ...joined(this.#received) });
  }

  reject(error: unknown): void {
    this.#settle.reject(error);
  }

  #isRepeated(tokens: Int32Array): boolean {
    const all = joined(this.#received).tokens;
    return tokens.every((token, i) => token === all[this.#arrived + i]);
  }
}

function fromToken({ tokens, logprobs, versions }: SampledChunk, start: number): SampledChunk {
  return { tokens: tokens.slice(start), logprobs: logprobs.slice(start), versions: versions.slice(start) };
}

function joined(chunks: readonly SampledChunk[]): SampledChunk {
  const length = chunks.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const [tokens, logprobs, versions] = [new Int32Array(length), new Float32Array(length), new Int32Array(length)];
  let at = 0;
  for (const chunk of chunks) {
    tokens.set(chunk.tokens, at);
    logprobs.set(chunk.logprobs, at);
    versions.set(chunk.versions, at);
    at += chunk.tokens.length;
  }
  return { tokens, logprobs, versions };
}
