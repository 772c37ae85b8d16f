/** Output of a program of which the head and the tail are kept. */
export class BoundedOutput {
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #leftOut = 0;

  constructor(limitBytes: number) {
    this.#half = Math.ceil(limitBytes / 2);
  }

  add(chunk: Buffer): void {
    const head = chunk.subarray(0, this.#half - this.#headBytes);
    if (head.length > 0) this.#head.push(Buffer.from(head));
    this.#headBytes += head.length;
    const rest = chunk.subarray(head.length);
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest.subarray(-this.#half)));
    this.#tailBytes += rest.length;
    if (this.#tailBytes > 4 * this.#half || this.#tail.length > 1024) this.#cut();
  }

  /** Whether something was left out. */
  get isTruncated(): boolean {
    return this.#tailBytes > this.#half || this.#leftOut > 0;
  }

  bytes(): Uint8Array {
    this.#cut();
    const note = this.#leftOut === 0 ? [] : [Buffer.from(`\n[${this.#leftOut} bytes left out]\n`)];
    return new Uint8Array(Buffer.concat([...this.#head, ...note, ...this.#tail]));
  }

  #cut(): void {
    const tail = Buffer.concat(this.#tail).subarray(-this.#half);
    this.#leftOut += this.#tailBytes - tail.length;
    this.#tail = [tail];
    this.#tailBytes = tail.length;
  }
}
