import { MrlmError } from "@mrlm/spec";
import type { SampledChunk, SampleOptions, SampleRequest, SampleResult } from "@mrlm/spec/host";

/** Sequence without a result, with the tokens that its caller has received. */
export class PendingSequence {
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
