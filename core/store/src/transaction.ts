import type { DatabaseSync } from "node:sqlite";
import type { StoreConnection } from "./database.ts";

/** Runs `work` in one transaction. `BEGIN IMMEDIATE` takes the write lock first, so that no read inside is out of date. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Divides work on items into transactions of about `longestMs` at most, but of one item at least. `work` receives the items of a transaction one
 * by one, and after them whether none is left. There is one transaction where there are no items.
 * @returns the first result that is not undefined; later transactions do not run
 */
export function inTransactions<T, R>(
  connection: StoreConnection,
  items: readonly T[],
  work: (next: Iterable<T>, isEnd: () => boolean) => R | undefined,
): R | undefined {
  let done = 0;
  do {
    const first = done;
    const result = connection.transaction(() => {
      const end = performance.now() + connection.longestMs;
      done = first;
      function* next(): Generator<T> {
        do if (done < items.length) yield items[done++] as T;
        while (done < items.length && performance.now() < end);
      }
      return work(next(), () => done === items.length);
    });
    if (result !== undefined) return result;
  } while (done < items.length);
  return undefined;
}
