import type { JsonValue } from "@mrlm/spec";

/** Encodes a frame: the length in bytes as a little-endian 32-bit number, then JSON in UTF-8. */
export function encodeFrame(message: unknown): Buffer {
  const json = JSON.stringify(message);
  const length = Buffer.byteLength(json);
  const frame = Buffer.allocUnsafe(4 + length);
  frame.writeUInt32LE(length, 0);
  frame.write(json, 4);
  return frame;
}

/** Error for a frame that is too long or not JSON: the peer has failed, or a submission controls it. */
export class FrameError extends Error {}

/** Reads frames from chunks of any size. Buffers at most one frame of `maxBytes`. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #buffered = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Yields the frames that `chunk` completes. Throws FrameError. */
  *push(chunk: Buffer): Generator<JsonValue> {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    while (this.#buffered >= 4) {
      const length = this.#peek(4).readUInt32LE(0);
      if (length > this.#maxBytes)
        throw new FrameError(`a frame of ${length} bytes, where at most ${this.#maxBytes} are allowed`);
      if (this.#buffered < 4 + length) return;
      const frame = this.#peek(4 + length);
      this.#chunks[0] = frame.subarray(4 + length);
      this.#buffered -= 4 + length;
      yield parse(frame.toString("utf8", 4, 4 + length));
    }
  }

  /** Returns the first buffered chunk; joins the chunks if it has fewer than `length` bytes. */
  #peek(length: number): Buffer {
    if ((this.#chunks[0] as Buffer).length < length) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Buffer;
  }
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new FrameError("a frame that is not JSON");
  }
}
