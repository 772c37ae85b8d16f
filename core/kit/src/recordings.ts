/**
 * Use of recorded answers of an external service. `record`: every request is sent, and its answer replaces the recorded one. `replay`: a recorded answer is
 * used; a request without one is sent and recorded. `replay-or-fail`: no request is sent; one without a recording rejects.
 */
export type RecordingMode = "record" | "replay" | "replay-or-fail";

/** Place of recordings, by the content of their requests. */
export interface RecordingStore<T> {
  /** Returns the recording of a key, if there is one. */
  read(key: string): T | undefined | Promise<T | undefined>;
  /** Writes a recording and returns the one that stays: unless it `replaces`, the first recording of a key stays, also that of another process. */
  write(key: string, recording: T, options: { readonly replaces: boolean }): T | Promise<T>;
}

export interface RecordedRequest<T> {
  /** Content of the request, as a hash. */
  readonly key: string;
  readonly signal: AbortSignal;
  send(): Promise<T>;
  /** Returns whether an answer is written. Default: each one. */
  keeps?(recording: T): boolean;
  /** Returns the error of `replay-or-fail` for a request without a recording. */
  missing(): Error;
}

/** Recorded answers of an external service: all requests, processes and resumed runs that share the store receive the same answer to the same request. */
export class Recordings<T> {
  readonly #mode: RecordingMode;
  readonly #store: RecordingStore<T>;
  readonly #pending = new Map<string, Promise<T>>();

  constructor(mode: RecordingMode, store: RecordingStore<T>) {
    this.#mode = mode;
    this.#store = store;
  }

  /** Returns the answer to a request: recorded, or sent and then recorded. Rejects as `send` does. */
  async answer(request: RecordedRequest<T>): Promise<T> {
    const { key, signal } = request;
    if (this.#mode === "record") return await this.#record(request);
    const recorded = await this.#store.read(key);
    if (recorded !== undefined) return recorded;
    if (this.#mode === "replay-or-fail") throw request.missing();
    // Equal requests at the same time are sent once. The signal of the first caller decides; another caller sends its own request then.
    const other = this.#pending.get(key);
    if (other !== undefined) {
      const shared = await other.catch(() => undefined);
      signal.throwIfAborted();
      if (shared !== undefined) return shared;
    }
    const own = this.#record(request);
    this.#pending.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#pending.get(key) === own) this.#pending.delete(key);
    }
  }

  async #record({ key, send, keeps = () => true }: RecordedRequest<T>): Promise<T> {
    const recording = await send();
    if (!keeps(recording)) return recording;
    return await this.#store.write(key, recording, { replaces: this.#mode === "record" });
  }
}
