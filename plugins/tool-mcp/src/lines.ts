/** Bytes at each end of a line above the limit that are kept: they name the request that it answers. */
const KEPT_BYTES = 4096;

/** Receiver of the lines of a stream. */
export interface LineHandlers {
  line(text: string): void;
  /** Called once the line has ended, with its beginning and its end. */
  tooLong(head: string, tail: string): void;
}

/** Splits a stream into lines. Memory is bounded: of a line above the limit only both ends are kept. */
export class Lines {
  readonly #limit: number;
  readonly #handlers: LineHandlers;
  #parts: Buffer[] = [];
  #size = 0;
  /** Both ends of a line above the limit. */
  #ends: { readonly head: Buffer; tail: Buffer } | undefined;

  constructor(limit: number, handlers: LineHandlers) {
    this.#limit = limit;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#add(chunk.subarray(start, end));
      this.#end();
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
  }

  #add(part: Buffer): void {
    if (this.#ends !== undefined) {
      this.#ends.tail = lastOf(Buffer.concat([this.#ends.tail, lastOf(part)]));
      return;
    }
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= this.#limit) return;
    const all = Buffer.concat(this.#parts);
    this.#ends = { head: Buffer.from(all.subarray(0, KEPT_BYTES)), tail: lastOf(all) };
    this.#parts = [];
  }

  #end(): void {
    const { line, tooLong } = this.#handlers;
    const ends = this.#ends;
    const [first] = this.#parts;
    const text =
      ends !== undefined || first === undefined
        ? ""
        : (this.#parts.length === 1 ? first : Buffer.concat(this.#parts)).toString("utf8");
    this.#parts = [];
    this.#size = 0;
    this.#ends = undefined;
    if (ends !== undefined) tooLong(ends.head.toString("utf8"), ends.tail.toString("utf8"));
    else if (text.trim() !== "") line(text);
  }
}

/** Copies the end of a part, so that the part itself can be freed. */
function lastOf(part: Buffer): Buffer {
  return Buffer.from(part.subarray(Math.max(0, part.length - KEPT_BYTES)));
}

/**
 * Returns the id of the request that a message answers, from the message's ends; `undefined` if they do not name it. Quotes inside of strings are escaped,
 * and objects inside of the message end before its last brace: neither can forge these forms.
 */
export function answeredId(head: string, tail: string): number | undefined {
  const found =
    /^\s*\{"jsonrpc":"2\.0","id":(\d+),/.exec(head) ??
    /^\s*\{"id":(\d+),/.exec(head) ??
    /[\]}],"jsonrpc":"2\.0","id":(\d+)\}\s*$/.exec(tail) ??
    /[\]}],"id":(\d+),"jsonrpc":"2\.0"\}\s*$/.exec(tail) ??
    /[\]}],"id":(\d+)\}\s*$/.exec(tail);
  return found === null ? undefined : Number(found[1]);
}
