import { SessionRequest } from "../gen/mrlm/env/v1/environment.ts";
import { serialise } from "../grpc/serialise.ts";
import { FRAME_BYTES } from "../protocol.ts";

/** Size of a piece. Larger entries are split, and other entries are sent between the pieces. */
const CHUNK_BYTES = FRAME_BYTES / 4;
/** Total size of the large entries that are sent at the same time. A receiver limits the unfinished entries that it holds. */
const BEGUN_BYTES = 32 << 20;
/** Approximate memory of an entry in addition to its bytes. */
const ENTRY_BYTES = 128;
/** Tag of field 1, length-delimited: `requests` of MultiplexRequest and `responses` of MultiplexResponse. */
const ENTRY_TAG = 0x0a;
/** Size of a tag and of a length below FRAME_BYTES. */
const HEADER_BYTES = 5;

interface Entry {
  /** `undefined` for a frame of entries. */
  readonly requestId: bigint | undefined;
  readonly bytes: Uint8Array;
  offset: number;
}

/**
 * Collects serialised SessionRequests (or SessionResponses, whose `request_id` and `chunk` have the same numbers) and writes them in
 * frames. Entries added in one turn of the event loop share a frame, no frame exceeds 1 MiB, large entries alternate with all
 * others, and nothing is written while the stream is full. A frame of another outbox is joined with the others.
 */
export class Outbox {
  readonly #write: (frame: Buffer) => boolean;
  readonly #entries: Entry[] = [];
  /** Large entries that are sent after others have ended. */
  readonly #later: Entry[] = [];
  #begunBytes = 0;
  #isScheduled = false;
  #isFull = false;
  #pendingBytes = 0;

  /** @param write writes a frame to the stream; returns false when the stream accepts no more until `drained` is called */
  constructor(write: (frame: Buffer) => boolean) {
    this.#write = write;
  }

  /** Memory of the entries that wait for the stream, in bytes. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Whether the stream accepts no more until `drained` is called. */
  get isFull(): boolean {
    return this.#isFull;
  }

  add(requestId: bigint, bytes: Uint8Array): void {
    this.#add({ requestId, bytes, offset: 0 });
  }

  /** Adds the entries of a frame that another outbox wrote, in their order. */
  addFrame(frame: Uint8Array): void {
    this.#add({ requestId: undefined, bytes: frame, offset: 0 });
  }

  #add(entry: Entry): void {
    if (isLarge(entry) && (this.#later.length > 0 || !this.#fits(entry))) this.#later.push(entry);
    else this.#begin(entry);
    this.#pendingBytes += entry.bytes.length + ENTRY_BYTES;
    if (this.#isScheduled || this.#isFull) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  /** Drops the unwritten rest of an entry. @returns whether there was one */
  drop(requestId: bigint): boolean {
    const before = this.#entries.length + this.#later.length;
    for (const entries of [this.#entries, this.#later]) {
      for (let i = entries.length - 1; i >= 0; i--) {
        const entry = entries[i] as Entry;
        if (entry.requestId !== requestId) continue;
        entries.splice(i, 1);
        this.#pendingBytes -= entry.bytes.length - entry.offset + ENTRY_BYTES;
        if (entries === this.#entries && isLarge(entry)) this.#begunBytes -= entry.bytes.length;
      }
    }
    const isDropped = this.#entries.length + this.#later.length < before;
    this.#beginLater();
    return isDropped;
  }

  /** Drops everything that is not written. */
  clear(): void {
    this.#entries.length = 0;
    this.#later.length = 0;
    this.#begunBytes = 0;
    this.#pendingBytes = 0;
  }

  /** Reports that the stream accepts more. */
  drained(): void {
    this.#isFull = false;
    this.#flush();
  }

  #begin(entry: Entry): void {
    if (isLarge(entry)) this.#begunBytes += entry.bytes.length;
    this.#entries.push(entry);
  }

  /** Starts waiting large entries that now fit. */
  #beginLater(): void {
    for (let [next] = this.#later; next !== undefined && this.#fits(next); [next] = this.#later) {
      this.#later.shift();
      this.#begin(next);
    }
  }

  #fits({ bytes }: Entry): boolean {
    return this.#begunBytes === 0 || this.#begunBytes + bytes.length <= BEGUN_BYTES;
  }

  #flush(): void {
    while (this.#entries.length > 0 && !this.#isFull) this.#isFull = !this.#write(this.#nextFrame());
  }

  #nextFrame(): Buffer {
    const pieces: Uint8Array[] = [];
    const unfinished: Entry[] = [];
    let size = 0;
    let taken = 0;
    for (const entry of this.#entries) {
      const piece = nextPiece(entry);
      const length = piece.length + (entry.requestId === undefined ? 0 : HEADER_BYTES);
      if (size > 0 && size + length > FRAME_BYTES) break;
      taken++;
      pieces.push(piece);
      size += length;
      const sent = isLarge(entry) ? Math.min(CHUNK_BYTES, entry.bytes.length - entry.offset) : entry.bytes.length;
      entry.offset += sent;
      this.#pendingBytes -= sent;
      if (entry.offset < entry.bytes.length) {
        unfinished.push(entry);
        continue;
      }
      this.#pendingBytes -= ENTRY_BYTES;
      if (isLarge(entry)) this.#begunBytes -= entry.bytes.length;
    }
    const frame = frameOf(pieces, this.#entries, size);
    this.#entries.splice(0, taken);
    this.#entries.push(...unfinished);
    this.#beginLater();
    return frame;
  }
}

function isLarge({ requestId, bytes }: Entry): boolean {
  return requestId !== undefined && bytes.length > CHUNK_BYTES;
}

/** Returns the entry itself, or its next piece as an entry with a chunk. */
function nextPiece({ requestId, bytes, offset }: Entry): Uint8Array {
  if (requestId === undefined || bytes.length <= CHUNK_BYTES) return bytes;
  const data = bytes.subarray(offset, offset + CHUNK_BYTES);
  const chunk = { data, last: offset + data.length === bytes.length };
  return serialise(SessionRequest, { requestId, request: undefined, cancel: false, chunk, traceparent: "" });
}

/** Returns a frame of pieces of these entries. */
function frameOf(pieces: readonly Uint8Array[], entries: readonly Entry[], capacity: number): Buffer {
  const frame = Buffer.allocUnsafe(capacity);
  let at = 0;
  let i = 0;
  for (const piece of pieces) {
    if (entries[i++]?.requestId !== undefined) {
      frame[at++] = ENTRY_TAG;
      let length = piece.length;
      while (length > 0x7f) {
        frame[at++] = (length & 0x7f) | 0x80;
        length >>>= 7;
      }
      frame[at++] = length;
    }
    frame.set(piece, at);
    at += piece.length;
  }
  return frame.subarray(0, at);
}
