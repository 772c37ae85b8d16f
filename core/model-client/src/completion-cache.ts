import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { RecordingMode, RecordingStore } from "@mrlm/kit/service";
import { fileFault, isObject, MrlmError } from "@mrlm/spec";
import { z } from "zod";
import { chatAnswer } from "./chat-answer.ts";

const recordedAnswer = z.object({ model: z.string(), answer: chatAnswer });

/** Recorded answer, with the model of the options that gave it. */
export type RecordedAnswer = z.infer<typeof recordedAnswer>;

/** A write blocks the process: 0.1 ms with a write-ahead log, 24 ms without, measured on a disk that syncs. */
const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL, recorded_at TEXT NOT NULL) STRICT;
`;
/** Time to wait for another process that writes. */
const BUSY_MS = 10_000;

/** Recorded answers in a SQLite file, by the hash of their requests. Holds no header of a request. */
export class CompletionCache implements RecordingStore<RecordedAnswer> {
  readonly #database: DatabaseSync;
  readonly #read: StatementSync;
  readonly #insert: StatementSync;
  readonly #replace: StatementSync;
  readonly #file: string;

  /** @throws DATA_INVALID */
  constructor(file: string, mode: RecordingMode) {
    this.#file = file;
    const isReadOnly = mode === "replay-or-fail";
    try {
      if (!isReadOnly) mkdirSync(dirname(file), { recursive: true });
      this.#database = new DatabaseSync(file, { readOnly: isReadOnly, timeout: BUSY_MS });
      if (!isReadOnly) this.#database.exec(SCHEMA);
      this.#read = this.#database.prepare("SELECT answer FROM answers WHERE key = ?");
      const values = "INTO answers (key, answer, recorded_at) VALUES (?, ?, datetime('now'))";
      this.#insert = this.#database.prepare(`INSERT OR IGNORE ${values}`);
      this.#replace = this.#database.prepare(`INSERT OR REPLACE ${values}`);
    } catch (cause) {
      throw new MrlmError("DATA_INVALID", `The file ${file} of recorded answers cannot be used: ${fileFault(cause)}.`, {
        hint: "Check `cache.file`. It is relative to the folder of the configuration.",
        cause,
      });
    }
  }

  read(key: string): RecordedAnswer | undefined {
    const row = this.#read.get(key);
    if (row === undefined) return undefined;
    try {
      return recordedAnswer.parse(JSON.parse(row["answer"] as string));
    } catch (cause) {
      throw new MrlmError("DATA_INVALID", `The recorded answer ${key} in ${this.#file} is damaged.`, {
        hint: "Delete its row, or the file, and record it again.",
        cause,
      });
    }
  }

  write(key: string, recording: RecordedAnswer, { replaces }: { readonly replaces: boolean }): RecordedAnswer {
    (replaces ? this.#replace : this.#insert).run(key, JSON.stringify(recording));
    return this.read(key) ?? recording;
  }

  close(): void {
    this.#database.close();
  }
}

/** Returns the key of a request: SHA-256 of its content. The order of fields does not matter. */
export function requestKey(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content, sorted)).digest("hex");
}

function sorted(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
