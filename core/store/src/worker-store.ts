import { Worker } from "node:worker_threads";
import { type EpisodeStore, MrlmError, type StoreEvent } from "@mrlm/spec";
import type { StoreDatabase, StoreSettings } from "./store-database.ts";

/** Call of a method of `StoreDatabase` in the store's thread. */
export interface StoreCall {
  readonly id: number;
  readonly method: Exclude<keyof StoreDatabase, symbol>;
  readonly args: readonly unknown[];
}

/** Result or error of a call; the reply to opening the store has id 0. */
export interface StoreReply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string };
}

type Pending = PromiseWithResolvers<unknown>;

/** Opens the episode store of a run in a thread of its own. Rejects with STORE_INVALID or STORE_FAILED where it cannot be opened. */
export async function openEpisodeStore(settings: StoreSettings): Promise<EpisodeStore> {
  const store = new WorkerStore(settings);
  try {
    await store.opened;
    return store;
  } catch (error) {
    await store.end();
    throw error;
  }
}

class WorkerStore implements EpisodeStore {
  readonly opened: Promise<unknown>;
  readonly #path: string;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<() => void>();
  #nextId = 0;
  #failure: MrlmError | undefined;

  constructor(settings: StoreSettings) {
    this.#path = settings.path;
    const file = import.meta.url.endsWith(".ts") ? "./store-worker.ts" : "./store-worker.js";
    this.#worker = new Worker(new URL(file, import.meta.url), { workerData: settings, name: "mrlm-store" });
    this.#worker.on("message", (reply: StoreReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(undefined));
    this.opened = this.#expect();
  }

  open: EpisodeStore["open"] = (...args) => this.#write("open", args);
  lease: EpisodeStore["lease"] = (...args) => this.#write("lease", args);
  renew: EpisodeStore["renew"] = (...args) => this.#write("renew", args);
  commit: EpisodeStore["commit"] = (lease, trajectories, { isLast }) =>
    this.#write("commit", [lease, trajectories, isLast]);
  take: EpisodeStore["take"] = (...args) => this.#write("take", args);
  refuse: EpisodeStore["refuse"] = (...args) => this.#write("refuse", args);
  settle: EpisodeStore["settle"] = (learner, step, { credits }) => this.#write("settle", [learner, step, credits]);
  abandon: EpisodeStore["abandon"] = (...args) => this.#write("abandon", args);
  announce: EpisodeStore["announce"] = (...args) => this.#write("announce", args);
  newest: EpisodeStore["newest"] = (...args) => this.#call("newest", args);
  flush: EpisodeStore["flush"] = () => this.#call("flush", []);

  async *watch(after: number, signal: AbortSignal): AsyncGenerator<StoreEvent, void, undefined> {
    let last = after;
    while (!signal.aborted) {
      const changed = this.#nextChange(signal);
      const events = await this.#call<readonly StoreEvent[]>("events", [last]);
      for (const event of events) {
        last = event.number;
        yield event;
      }
      if (events.length === 0) await changed;
    }
  }

  async close(): Promise<void> {
    if (this.#failure !== undefined) return;
    await this.#call("close", []);
    this.#failure = new MrlmError("STORE_FAILED", `The episode store ${this.#path} was used after it had been closed.`);
    await this.end();
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #write<T>(method: StoreCall["method"], args: readonly unknown[]): Promise<T> {
    const result = await this.#call<T>(method, args);
    for (const listener of this.#listeners) listener();
    return result;
  }

  #call<T>(method: StoreCall["method"], args: readonly unknown[]): Promise<T> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const expected = this.#expect();
    this.#worker.postMessage({ id: this.#nextId - 1, method, args } satisfies StoreCall);
    return expected as Promise<T>;
  }

  #expect(): Promise<unknown> {
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(this.#nextId++, pending);
    return pending.promise;
  }

  #settle({ id, result, error }: StoreReply): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new MrlmError(error.code as MrlmError["code"], error.message, { hint: error.hint }));
  }

  /** The thread has ended: nothing more can be written. */
  #fail(cause: unknown): void {
    this.#failure ??= new MrlmError("STORE_FAILED", `The thread of the episode store ${this.#path} ended.`, { cause });
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
    for (const listener of this.#listeners) listener();
  }

  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#listeners.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener("abort", done);
    });
  }
}
