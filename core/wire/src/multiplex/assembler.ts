import { MrlmError } from "@mrlm/spec";
import type { Chunk } from "../gen/mrlm/env/v1/environment.ts";
import { invalid } from "../invalid.ts";

/** First bytes of an entry, in a buffer that doubles. Views of the received frames would keep whole frames in memory. */
interface Unfinished {
  buffer: Buffer;
  length: number;
}

/** Joins the pieces of large entries. */
export class Assembler {
  /** Limit of unfinished entries of a receiver. An Outbox starts fewer. */
  static readonly MAX_UNFINISHED = 256;

  readonly #unfinished = new Map<bigint, Unfinished>();
  readonly #limit: number;
  #held = 0;

  /** @param limit total bytes of all unfinished entries */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a piece. Returns the whole entry after its last piece. Throws MESSAGE_INVALID for an empty piece and past the limit, RESOURCE_EXHAUSTED past MAX_UNFINISHED entries. */
  add(requestId: bigint, { data, last }: Chunk): Uint8Array | undefined {
    const entry = this.#unfinished.get(requestId) ?? { buffer: Buffer.alloc(0), length: 0 };
    const length = entry.length + data.length;
    if (data.length === 0 || this.#held + data.length > this.#limit) {
      this.drop(requestId);
      throw invalid(data.length === 0 ? "a piece is empty" : `its pieces exceed ${this.#limit} bytes`);
    }
    if (!last && entry.length === 0 && this.#unfinished.size >= Assembler.MAX_UNFINISHED) {
      throw new MrlmError(
        "RESOURCE_EXHAUSTED",
        `The stream has ${Assembler.MAX_UNFINISHED} unfinished requests; no other may begin before one is whole.`,
        { retryDelayMs: 100 },
      );
    }
    if (length > entry.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(last ? length : 2 * length);
      entry.buffer.copy(larger, 0, 0, entry.length);
      entry.buffer = larger;
    }
    entry.buffer.set(data, entry.length);
    if (last) {
      this.drop(requestId);
      return entry.buffer.subarray(0, length);
    }
    entry.length = length;
    this.#held += data.length;
    this.#unfinished.set(requestId, entry);
    return undefined;
  }

  /** Drops the pieces of an entry. */
  drop(requestId: bigint): void {
    this.#held -= this.#unfinished.get(requestId)?.length ?? 0;
    this.#unfinished.delete(requestId);
  }
}
