import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readLines } from "@mrlm/kit/service";
import { type RecordedRow } from "@mrlm/kit/learning";
import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import { canonicalJson } from "../names/canonical-json.ts";

/** Batch of tasks that has been played. */
export interface JournalEntry {
  /** Position of the batch in the collection. */
  readonly batch: number;
  /** Rows that are kept. */
  readonly rows: readonly RecordedRow[];
  /** Counts over all episodes of the batch, also those that are not kept. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Journal of a collection (FILE.partial): a line that identifies the collection, then one line for each batch that has been played. An interrupted
 * collection continues from it.
 */
export class Journal {
  readonly path: string;
  readonly #played = new Set<number>();
  readonly #counts: Record<string, number> = {};

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * Opens the journal of this collection or creates it. Rejects with USAGE if the file is of another collection.
   * @param identity everything that decides what is collected
   */
  static async open(path: string, identity: JsonObject): Promise<Journal> {
    const journal = new Journal(path);
    if (!existsSync(path) || dropCutLine(path) === 0) {
      writeFileSync(path, `${JSON.stringify({ identity })}\n`);
      return journal;
    }
    let begun: JsonObject | undefined;
    for await (const line of readLines(path)) {
      if (begun === undefined) {
        begun = (JSON.parse(line) as { identity: JsonObject }).identity;
        assertSame(path, begun, identity);
      } else journal.#count(JSON.parse(line) as JournalEntry);
    }
    return journal;
  }

  has(batch: number): boolean {
    return this.#played.has(batch);
  }

  add(entry: JournalEntry): void {
    appendFileSync(this.path, `${JSON.stringify(entry)}\n`);
    this.#count(entry);
  }

  /** Returns the sums of the counts over all batches. */
  counts(): Readonly<Record<string, number>> {
    return { ...this.#counts };
  }

  /** Returns the batches in the order in which they were written. */
  async *entries(): AsyncGenerator<JournalEntry> {
    let isFirst = true;
    for await (const line of readLines(this.path)) {
      if (!isFirst) yield JSON.parse(line) as JournalEntry;
      isFirst = false;
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }

  #count({ batch, counts }: JournalEntry): void {
    this.#played.add(batch);
    for (const [name, count] of Object.entries(counts)) this.#counts[name] = (this.#counts[name] ?? 0) + count;
  }
}

function assertSame(path: string, begun: JsonObject, identity: JsonObject): void {
  const other = Object.keys({ ...begun, ...identity }).filter(
    (key) => canonicalJson(begun[key] ?? null) !== canonicalJson(identity[key] ?? null),
  );
  if (other.length > 0) {
    throw new MrlmError(
      "USAGE",
      `${path} was begun with different arguments: ${other.map((key) => `${key} was ${show(begun[key])} and is ${show(identity[key])}`).join(", ")}.`,
      {
        hint: "Give the same arguments to continue it, or --overwrite to start over.",
      },
    );
  }
}

const BLOCK_BYTES = 64 << 10;
const NEWLINE = 0x0a;

/** Removes a last line that was cut when the process was killed. Returns the remaining bytes. */
function dropCutLine(path: string): number {
  const file = openSync(path, "r+");
  try {
    const size = fstatSync(file).size;
    const block = Buffer.alloc(BLOCK_BYTES);
    let end = size;
    let kept = 0;
    while (end > 0 && kept === 0) {
      const start = Math.max(0, end - BLOCK_BYTES);
      const read = readSync(file, block, 0, end - start, start);
      kept = start + block.subarray(0, read).lastIndexOf(NEWLINE) + 1;
      if (kept === start) kept = 0;
      end = start;
    }
    if (kept < size) ftruncateSync(file, kept);
    return kept;
  } finally {
    closeSync(file);
  }
}

function show(value: JsonValue | undefined): string {
  return value === undefined ? "not given" : JSON.stringify(value);
}
