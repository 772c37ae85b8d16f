/** Most entries that are handled in one turn of the event loop, and the longest time of their handling in milliseconds. */
const SLICE = { entries: 32, milliseconds: 2 };

/**
 * Hands the entries of received frames to a handler, in order and in slices. What the handler causes is sent before the next slice begins, so that both ends of
 * a stream work at the same time, and other streams and timers are not kept waiting by a large frame.
 */
export class Inbox<T> {
  readonly #handle: (entry: T) => void;
  readonly #onEmpty: () => void;
  #entries: T[] = [];
  /** Index of the next entry. */
  #next = 0;
  #isScheduled = false;

  /**
   * @param handle must not throw
   * @param onEmpty called when a wait for later slices is over
   */
  constructor(handle: (entry: T) => void, onEmpty: () => void = () => undefined) {
    this.#handle = handle;
    this.#onEmpty = onEmpty;
  }

  /** Number of entries that wait. */
  get length(): number {
    return this.#entries.length - this.#next;
  }

  /** Adds the entries of a frame. The first slice of a turn is handled at once. */
  add(entries: readonly T[]): void {
    if (this.length > 0) {
      for (const entry of entries) this.#entries.push(entry);
      return;
    }
    this.#entries = [...entries];
    this.#next = 0;
    if (!this.#isScheduled) this.#handleSlice();
  }

  /** Handles all entries that wait. */
  drain(): void {
    while (this.length > 0) this.#handle(this.#entries[this.#next++] as T);
  }

  /** Drops all entries that wait. */
  clear(): void {
    this.#entries = [];
    this.#next = 0;
  }

  #handleSlice(): void {
    const end = this.#next + SLICE.entries;
    const until = performance.now() + SLICE.milliseconds;
    while (this.length > 0 && this.#next < end) {
      this.#handle(this.#entries[this.#next++] as T);
      if (performance.now() > until) break;
    }
    this.#isScheduled = true;
    // The stream's frames of this slice are written in the first immediate, and sent before the second.
    setImmediate(() => setImmediate(() => this.#continue()));
  }

  #continue(): void {
    this.#isScheduled = false;
    if (this.length === 0) return;
    this.#handleSlice();
    if (this.length === 0) this.#onEmpty();
  }
}
