import { Worker } from "node:worker_threads";
import type { EpisodeStore, StoreEvent, TakenBatch } from "@mrlm/spec/host";
import { MrlmError, type TrajectoryGroup } from "@mrlm/spec";
import { CHANGED, type StoreCall, type StoreReply } from "./answer-call.ts";
import type { LoggedBatch } from "./batch-table.ts";
import { LocalPort } from "./local-port.ts";
import { encodeGroups } from "./encoded-groups.ts";
import { fromErrorRecord } from "./error-record.ts";
import { PlayedGroups } from "./played-groups.ts";
import { isPostgres, withoutPassword } from "./store-place.ts";
import type { StoreSettings } from "./store-settings.ts";

type Pending = PromiseWithResolvers<unknown>;

/** Time between two looks for events of other processes, in milliseconds: of a file, and of a database that reports them. */
const [POLL_MS, REPORTED_POLL_MS] = [250, 2_000];

/** Opens the episode store of a run in a thread of its own. Rejects with STORE_INVALID or STORE_FAILED where it cannot be opened. */
export function openEpisodeStore(settings: StoreSettings): Promise<EpisodeStore> {
  return opened(new WorkerStore(settings, startWorker(settings)));
}

/**
 * Opens a store in this thread, which its writes block: for tests of many short runs, as the start of a thread takes longer than such a run.
 * @param now clock of the store, in milliseconds since 1970
 */
export function openLocalStore(settings: StoreSettings, now?: () => number): Promise<EpisodeStore> {
  return opened(new WorkerStore(settings, new LocalPort(settings, now)));
}

function startWorker(settings: StoreSettings): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  return new Worker(new URL(isSource ? "./store-worker.ts" : "./store-worker.js", import.meta.url), {
    workerData: settings,
    name: "mrlm-store",
    env: process.env,
    // From the sources, packages are imported from their sources too. Flags of the process, such as --input-type, may be invalid for a thread.
    execArgv: isSource ? ["--conditions=mrlm-source", "--disable-warning=ExperimentalWarning"] : [],
  });
}

async function opened(store: WorkerStore): Promise<EpisodeStore> {
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
  /** Whether this process takes: groups that another process takes would be kept in vain. */
  readonly #takes: boolean;
  readonly #worker: Worker | LocalPort;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<() => void>();
  readonly #played = new PlayedGroups();
  #nextId = 0;
  #failure: MrlmError | undefined;

  constructor({ path, endsLeases }: StoreSettings, port: Worker | LocalPort) {
    this.#path = withoutPassword(path);
    this.#takes = endsLeases;
    this.#worker = port;
    this.#worker.on("message", (reply: StoreReply) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(undefined));
    this.opened = this.#expect();
  }

  open: EpisodeStore["open"] = (...args) => this.#write("open", args);
  lease: EpisodeStore["lease"] = (...args) => this.#write("lease", args);
  renew: EpisodeStore["renew"] = (...args) => this.#write("renew", args);
  refuse: EpisodeStore["refuse"] = (...args) => this.#write("refuse", args);
  settle: EpisodeStore["settle"] = (learner, step, { credits, isApplied }) =>
    this.#write("settle", [learner, step, credits, isApplied]);
  record: EpisodeStore["record"] = ({ groups, ...place }) => {
    const encoded = encodeGroups(groups);
    return this.#write("record", [place, encoded], [encoded.bytes.buffer]);
  };
  mirror: EpisodeStore["mirror"] = (...args) => this.#write("mirror", args);
  prune: EpisodeStore["prune"] = (...args) => this.#write("prune", args);
  announce: EpisodeStore["announce"] = (...args) => this.#write("announce", args);
  buffer: EpisodeStore["buffer"] = (...args) => this.#call("buffer", args);
  newest: EpisodeStore["newest"] = (...args) => this.#call("newest", args);
  join: EpisodeStore["join"] = (...args) => this.#call("join", args);
  leave: EpisodeStore["leave"] = (...args) => this.#call("leave", args);
  members: EpisodeStore["members"] = () => this.#call("members", []);
  flush: EpisodeStore["flush"] = () => this.#call("flush", []);

  commit: EpisodeStore["commit"] = async (lease, groups, { isLast, take }) => {
    const encoded = encodeGroups(groups);
    const args = [lease, encoded, isLast, take];
    const result = await this.#write<"accepted" | "late" | LoggedBatch>("commit", args, [encoded.bytes.buffer]);
    if (result !== "late" && this.#takes) this.#played.add(lease, groups);
    return typeof result === "string" ? result : this.#withGroups(result);
  };

  take: EpisodeStore["take"] = async (...args) => {
    const batch = await this.#write<LoggedBatch | "unready" | "outdated">("take", args);
    return typeof batch === "string" ? batch : this.#withGroups(batch);
  };

  async #withGroups(batch: LoggedBatch): Promise<TakenBatch> {
    const held = batch.groups.map((group) => this.#played.remove(group));
    const missing = batch.groups.filter((_group, i) => held[i] === undefined).map(({ key }) => key);
    const read = missing.length === 0 ? [] : await this.#call<TrajectoryGroup[]>("read", [missing]);
    return { ...batch, groups: held.map((group) => group ?? (read.shift() as TrajectoryGroup)) };
  }

  abandon: EpisodeStore["abandon"] = async (learner, fromStep) => {
    await this.#write("abandon", [learner, fromStep]);
    this.#played.abandon(learner, fromStep);
  };

  async *watch(after: number, signal: AbortSignal): AsyncGenerator<StoreEvent, void, undefined> {
    let last = after;
    while (!signal.aborted) {
      const changed = this.#nextChange(signal);
      const events = await this.#call<readonly StoreEvent[]>("events", [last]);
      for (const event of events) {
        if (signal.aborted) return;
        last = event.number;
        yield event;
      }
      if (events.length === 0) await changed;
    }
  }

  async close(): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      await this.#call("close", []);
    } finally {
      this.#failure = new MrlmError(
        "STORE_FAILED",
        `The episode store ${this.#path} was used after it had been closed.`,
      );
      await this.end();
    }
  }

  /** Ends the thread. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #write<T>(method: StoreCall["method"], args: readonly unknown[], moved: ArrayBuffer[] = []): Promise<T> {
    const result = await this.#call<T>(method, args, moved);
    this.#changed();
    return result;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** @param moved buffers that the thread receives without a copy */
  #call<T>(method: StoreCall["method"], args: readonly unknown[], moved: ArrayBuffer[] = []): Promise<T> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const expected = this.#expect();
    this.#worker.postMessage({ id: this.#nextId - 1, method, args } satisfies StoreCall, moved);
    return expected as Promise<T>;
  }

  #expect(): Promise<unknown> {
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(this.#nextId++, pending);
    return pending.promise;
  }

  #settle({ id, result, error }: StoreReply): void {
    if (id === CHANGED) return this.#changed();
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(fromErrorRecord(error));
  }

  /** The thread has ended: nothing more can be written. */
  #fail(cause: unknown): void {
    this.#failure ??= new MrlmError("STORE_FAILED", `The thread of the episode store ${this.#path} ended.`, { cause });
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
    this.#changed();
  }

  /** Resolves after the next write of this process, and after a while: other processes write too. */
  #nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, isPostgres(this.#path) ? REPORTED_POLL_MS : POLL_MS);
      this.#listeners.add(done);
      signal.addEventListener("abort", done);
    });
  }
}
