import { appendFileSync, createReadStream, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type CollectedRow } from "@mrlm/kit";
import { type JsonObject, type JsonValue, MrlmError } from "@mrlm/spec";
import { canonicalJson } from "../names/canonical-json.ts";

/** One batch of tasks that has been played. */
export interface JournalEntry {
  /** Its position in the collection. */
  readonly batch: number;
  /** Rows that are kept. */
  readonly rows: readonly CollectedRow[];
  /** What came of its episodes, those that are not kept included. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * What a collection has played so far, beside the file that it will become (FILE.partial): a line that says what is collected, then one for each batch. A
 * collection that was interrupted goes on from it.
 */
export class Journal {
  readonly path: string;
  readonly #entries = new Map<number, JournalEntry["counts"]>();

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * Opens one that fits, or begins one. Throws USAGE when there is one of another collection.
   * @param identity everything that decides what is collected
   */
  static open(path: string, identity: JsonObject): Journal {
    const journal = new Journal(path);
    if (!existsSync(path)) {
      writeFileSync(path, `${JSON.stringify({ identity })}\n`);
      return journal;
    }
    const text = readFileSync(path, "utf8");
    // The last line may have been cut by a kill.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
    const [first = "{}", ...lines] = whole.split("\n");
    const begun = (JSON.parse(first || "{}") as { identity?: JsonObject }).identity ?? {};
    const other = Object.keys({ ...begun, ...identity }).filter((key) => canonicalJson(begun[key] ?? null) !== canonicalJson(identity[key] ?? null));
    if (other.length > 0) {
      throw new MrlmError("USAGE", `${path} was begun with other arguments: ${other.map((key) => `${key} was ${show(begun[key])} and is ${show(identity[key])}`).join(", ")}.`, {
        hint: "Give the same arguments to go on with it, or say --overwrite to begin anew.",
      });
    }
    for (const line of lines) {
      if (line === "") continue;
      const { batch, counts } = JSON.parse(line) as JournalEntry;
      journal.#entries.set(batch, counts);
    }
    return journal;
  }

  has(batch: number): boolean {
    return this.#entries.has(batch);
  }

  add(entry: JournalEntry): void {
    appendFileSync(this.path, `${JSON.stringify(entry)}\n`);
    this.#entries.set(entry.batch, entry.counts);
  }

  /** Sums of all batches' counts. */
  counts(): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const counts of this.#entries.values()) for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
    return sums;
  }

  /** As they were written. */
  async *entries(): AsyncGenerator<JournalEntry> {
    let isFirst = true;
    for await (const line of createInterface({ input: createReadStream(this.path), crlfDelay: Number.POSITIVE_INFINITY })) {
      if (!isFirst) yield JSON.parse(line) as JournalEntry;
      isFirst = false;
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

function show(value: JsonValue | undefined): string {
  return value === undefined ? "not given" : JSON.stringify(value);
}
