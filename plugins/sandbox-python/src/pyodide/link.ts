import { readSync, writeSync } from "node:fs";

const HEADER = 4;
/** Nobody sends more; who does is broken. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Texts over a descriptor, each behind its length. Reading waits: Python calls from within WebAssembly, and cannot be left and entered again as an
 * asynchronous reader would have it.
 */
export class Link {
  readonly #fd: number;
  #buffer = Buffer.allocUnsafe(64 * 1024);
  #start = 0;
  #end = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** The next text; undefined when the other side is gone. */
  read(): string | undefined {
    if (!this.#fill(HEADER)) return undefined;
    const length = this.#buffer.readUInt32LE(this.#start);
    if (length > MAX_BYTES || !this.#fill(HEADER + length)) return undefined;
    const text = this.#buffer.toString("utf8", this.#start + HEADER, this.#start + HEADER + length);
    this.#start += HEADER + length;
    return text;
  }

  /** False when the other side is gone. */
  write(text: string): boolean {
    const length = Buffer.byteLength(text);
    const frame = Buffer.allocUnsafe(HEADER + length);
    frame.writeUInt32LE(length, 0);
    frame.write(text, HEADER);
    try {
      for (let sent = 0; sent < frame.length;) sent += writeSync(this.#fd, frame, sent);
      return true;
    } catch {
      return false;
    }
  }

  /** Waits until `bytes` of them are there. */
  #fill(bytes: number): boolean {
    if (this.#buffer.length - this.#start < bytes) {
      const larger = this.#buffer.length < bytes ? Buffer.allocUnsafe(2 ** Math.ceil(Math.log2(bytes))) : this.#buffer;
      this.#buffer.copy(larger, 0, this.#start, this.#end);
      [this.#buffer, this.#end, this.#start] = [larger, this.#end - this.#start, 0];
    }
    while (this.#end - this.#start < bytes) {
      let read = 0;
      try {
        read = readSync(this.#fd, this.#buffer, this.#end, this.#buffer.length - this.#end, null);
      } catch {
        return false;
      }
      if (read === 0) return false;
      this.#end += read;
    }
    return true;
  }
}
