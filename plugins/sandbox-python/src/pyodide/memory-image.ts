const PAGE = 4096;

/** Range of memory. */
export interface Run {
  readonly start: number;
  readonly end: number;
  /** Absent if all bytes are zero. */
  readonly bytes?: Uint8Array;
}

/** Copy of an interpreter's memory for restoring, without pages of zeros. */
export class MemoryImage {
  readonly length: number;
  readonly runs: readonly Run[];

  constructor(length: number, runs: readonly Run[]) {
    this.length = length;
    this.runs = runs;
  }

  static of(memory: Uint8Array): MemoryImage {
    return new MemoryImage(memory.length, runsOf(memory));
  }

  /**
   * Restores `memory`. Fills memory that was added since with zeros, because it cannot be removed.
   * @param end end of the written memory: writing zeros after it would make those pages resident
   */
  restore(memory: Uint8Array, end: number): void {
    for (const { start, end, bytes } of this.runs) {
      if (bytes === undefined) memory.fill(0, start, end);
      else memory.set(bytes, start);
    }
    if (end > this.length) memory.fill(0, this.length, end);
  }
}

/** Splits memory into runs of pages that are, or are not, all zeros. */
function runsOf(memory: Uint8Array): Run[] {
  const words = new BigUint64Array(memory.buffer, memory.byteOffset, memory.length / 8);
  const runs: Run[] = [];
  const isZeroAt = (page: number): boolean => {
    for (let word = (page * PAGE) / 8; word < ((page + 1) * PAGE) / 8; word++) if (words[word] !== 0n) return false;
    return true;
  };
  const pages = memory.length / PAGE;
  for (let page = 0; page < pages;) {
    const first = page;
    const isZero = isZeroAt(page);
    while (page < pages && isZeroAt(page) === isZero) page++;
    const [start, end] = [first * PAGE, page * PAGE];
    runs.push(isZero ? { start, end } : { start, end, bytes: memory.slice(start, end) });
  }
  return runs;
}
