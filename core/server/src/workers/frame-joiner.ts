import { FRAME_BYTES } from "@mrlm/wire";

/** Joins the frames of several workers for one client: frames that come in one turn of the event loop are sent as one, up to 1 MiB. */
export class FrameJoiner {
  readonly #write: (frame: Buffer) => boolean;
  readonly #onFlushed: () => void;
  readonly #frames: Uint8Array[] = [];
  #pendingBytes = 0;
  #isScheduled = false;
  #isFull = false;

  /**
   * @param write writes a frame to the client; returns false when it accepts no more until `drained` is called
   * @param onFlushed called when frames have been written
   */
  constructor(write: (frame: Buffer) => boolean, onFlushed: () => void) {
    this.#write = write;
    this.#onFlushed = onFlushed;
  }

  /** Bytes that wait for the client. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  add(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#pendingBytes += frame.length;
    if (this.#isScheduled || this.#isFull) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  /** Reports that the client accepts more. */
  drained(): void {
    this.#isFull = false;
    this.#flush();
  }

  #flush(): void {
    let next = 0;
    while (next < this.#frames.length && !this.#isFull) {
      const first = next;
      let size = 0;
      do size += (this.#frames[next++] as Uint8Array).length;
      while (next < this.#frames.length && size + (this.#frames[next] as Uint8Array).length <= FRAME_BYTES);
      const joined = this.#frames.slice(first, next);
      this.#pendingBytes -= size;
      // Repeated fields of joined messages are joined.
      this.#isFull = !this.#write(Buffer.concat(joined, size));
    }
    this.#frames.splice(0, next);
    this.#onFlushed();
  }
}
