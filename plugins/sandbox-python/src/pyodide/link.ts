import { readSync, writeSync } from "node:fs";

const HEADER = 4;
/** Maximum length of a text; a longer one means that the other side has failed. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Texts over a descriptor, each preceded by its length. Reading is synchronous: Python calls it from WebAssembly code, which cannot be suspended
 * for an asynchronous read.
 */
export class Link {
  readonly #fd: number;
  #buffer = Buffer.allocUnsafe(64 * 1024);
  #start = 0;
  #end = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Returns the next text; undefined if the other side has closed. */
  read(): string | undefined {
    if (!this.#fill(HEADER)) return undefined;
    const length = this.#buffer.readUInt32LE(this.#start);
    if (length > MAX_BYTES || !this.#fill(HEADER + length)) return undefined;
    const text = this.#buffer.toString("utf8", this.#start + HEADER, this.#start + HEADER + length);
    this.#start += HEADER + length;
    return text;
  }

  /** Writes a text. Returns false if the other side has closed. */
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

  /** Reads until `bytes` are buffered. */
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
