import type { Chunk } from "../gen/mrlm/env/v1/environment.ts";
import { invalid } from "../invalid.ts";

/** Puts the pieces of large entries together again. */
export class Assembler {
  readonly #pieces = new Map<bigint, Uint8Array[]>();
  readonly #limit: number;
  #held = 0;

  /** @param limit bytes that all unfinished entries together may hold */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The whole entry once its last piece is there. Throws MESSAGE_INVALID past the limit. */
  add(requestId: bigint, { data, last }: Chunk): Uint8Array | undefined {
    const pieces = this.#pieces.get(requestId) ?? [];
    this.#pieces.set(requestId, pieces);
    pieces.push(data);
    this.#held += data.length;
    if (this.#held > this.#limit) {
      this.drop(requestId);
      throw invalid(`its pieces exceed ${this.#limit} bytes`);
    }
    if (!last) return undefined;
    this.drop(requestId);
    return Buffer.concat(pieces);
  }

  /** Forgets the pieces of an entry. */
  drop(requestId: bigint): void {
    for (const piece of this.#pieces.get(requestId) ?? []) this.#held -= piece.length;
    this.#pieces.delete(requestId);
  }
}
