import type { DatabaseSync } from "node:sqlite";
import type { StoreConnection } from "./database.ts";
import { openDatabase, reported } from "./open-database.ts";
import { transaction } from "./transaction.ts";

/** SQLite file that a store writes. */
export class SqliteConnection implements StoreConnection {
  readonly database: DatabaseSync;
  readonly longestMs = 4;
  readonly now = Date.now;
  readonly #path: string;

  constructor(path: string, run: string | undefined, busyMs: number) {
    this.#path = path;
    this.database = openDatabase(path, run, busyMs);
  }

  transaction<T>(work: () => T): T {
    return reported(this.#path, () => transaction(this.database, work));
  }

  read<T>(work: () => T): T {
    return reported(this.#path, work);
  }

  flush(): void {
    this.read(() => {
      const { log, checkpointed } = this.database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as Record<
        string,
        number
      >;
      if (log !== checkpointed) this.#syncLog();
    });
  }

  close(): void {
    this.database.close();
  }

  /** Syncs the log by a commit of one change: where a reader keeps a checkpoint from the end of the log, the checkpoint may sync nothing. */
  #syncLog(): void {
    const count = Number(this.database.prepare("PRAGMA user_version").get()?.["user_version"]);
    this.database.exec("PRAGMA synchronous = FULL");
    try {
      this.database.exec(`PRAGMA user_version = ${(count + 1) % 1_000_000}`);
    } finally {
      this.database.exec("PRAGMA synchronous = NORMAL");
    }
  }
}
