import { type ErrorRecord, toErrorRecord } from "./error-record.ts";
import type { StoreDatabase } from "./store-database.ts";

/** Call of a method of `StoreDatabase`. */
export interface StoreCall {
  readonly id: number;
  readonly method: Exclude<keyof StoreDatabase, symbol>;
  readonly args: readonly unknown[];
}

/** Id of a reply that no call has: another process changed the store. */
export const CHANGED = -1;

/** Result or error of a call; the reply to opening the store has id 0. */
export interface StoreReply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: ErrorRecord;
}

/** Calls a method of the database. */
export function answerCall(database: StoreDatabase | undefined, { id, method, args }: StoreCall): StoreReply {
  const call = database?.[method] as (...args: unknown[]) => unknown;
  return answer(id, () => call.apply(database, [...args]));
}

/** Returns the result or the error of some work. */
export function answer(id: number, work: () => unknown): StoreReply {
  try {
    return { id, result: work() };
  } catch (error) {
    return { id, error: toErrorRecord(error) };
  }
}
