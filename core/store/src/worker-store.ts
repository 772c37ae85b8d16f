import { Worker } from "node:worker_threads";
import { Calls, type Channel, localChannel, moduleFile, threadChannel } from "@mrlm/process";
import { MrlmError, type Trajectory, type TrajectoryGroup } from "@mrlm/spec";
import type { EpisodeStore, Lease, StoreEvent, TakenBatch } from "@mrlm/spec/host";
import type { LoggedBatch, LoggedGroup } from "./batch-table.ts";
import { encodeGroups } from "./encoded-groups.ts";
import { serveDatabase, type ServedDatabase } from "./store-database.ts";
import { isPostgres, withoutPassword } from "./store-place.ts";
import type { StoreSettings } from "./store-settings.ts";

type Method = keyof ServedDatabase & string;

/** Time between two looks for events of other processes, in milliseconds: of a file, and of a database that reports them. */
const [POLL_MS, REPORTED_POLL_MS] = [250, 2_000];

/** Opens the episode store of a run in a thread of its own. Rejects with STORE_INVALID or STORE_FAILED where it cannot be opened. */
export function openEpisodeStore(settings: StoreSettings): Promise<EpisodeStore> {
  const { url, execArgv } = moduleFile(import.meta.url, "./store-worker");
  // Flags of the process, such as --input-type, may be invalid for a thread.
  const worker = new Worker(url, { name: "mrlm-store", env: process.env, execArgv: [...execArgv] });
  return open(settings, threadChannel(worker), () => worker.terminate());
}

/**
 * Opens a store in this thread, which its writes block: for tests of many short runs, as the start of a thread takes longer than such a run.
 * @param now clock of the store, in milliseconds since 1970
 */
export function openLocalStore(settings: StoreSettings, now?: () => number): Promise<EpisodeStore> {
  const { ends, close } = localChannel();
  serveDatabase(ends[1], now);
  return open(settings, ends[0], close);
}

async function open(settings: StoreSettings, channel: Channel, end: () => unknown): Promise<EpisodeStore> {
  const store = new WorkerStore(settings, channel, end);
  try {
    await store.start(settings);
    return store;
  } catch (error) {
    await store.end();
    throw error;
  }
}

class WorkerStore implements EpisodeStore {
  readonly #path: string;
  /** Whether this process takes: groups that another process takes would be kept in vain. */
  readonly #takes: boolean;
  readonly #calls: Calls<ServedDatabase>;
  readonly #end: () => unknown;
  readonly #listeners = new Set<() => void>();
  readonly #played = new PlayedGroups();
  #failure: MrlmError | undefined;

  /** @param end ends the thread */
  constructor({ path, endsLeases }: StoreSettings, channel: Channel, end: () => unknown) {
    this.#path = withoutPassword(path);
    this.#takes = endsLeases;
    this.#end = end;
    channel.closed.addEventListener("abort", () => {
      const { cause } = channel.closed.reason as Error;
      this.#failure ??= new MrlmError("STORE_FAILED", `The thread of the episode store ${this.#path} ended.`, {
        cause,
      });
      this.#changed();
    });
    this.#calls = new Calls(channel, () => this.#changed());
  }

  start(settings: StoreSettings): Promise<void> {
    return this.#call("start", [settings]);
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
    await this.#end();
  }

  async #write<T>(method: Method, args: readonly unknown[], moved: readonly ArrayBuffer[] = []): Promise<T> {
    const result = await this.#call<T>(method, args, moved);
    this.#changed();
    return result;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** @param moved buffers that the thread receives without a copy */
  async #call<T>(method: Method, args: readonly unknown[], moved: readonly ArrayBuffer[] = []): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return (await this.#calls.call(method, args as never, { moved })) as T;
    } catch (error) {
      throw this.#failure ?? error;
    }
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

interface PlayedCohort {
  readonly lease: Lease;
  readonly groups: Map<string, TrajectoryGroup>;
}

/** Groups that this process committed and no learner has taken: a take of them reads nothing from the disk. */
export class PlayedGroups {
  readonly #cohorts = new Map<string, PlayedCohort>();

  add(lease: Lease, groups: readonly TrajectoryGroup[]): void {
    const { id } = lease.cohort;
    const known = this.#cohorts.get(id);
    const played =
      known?.lease.attempt === lease.attempt ? known : { lease, groups: new Map<string, TrajectoryGroup>() };
    this.#cohorts.set(id, played);
    for (const group of groups) played.groups.set(group.id, joined(played.groups.get(group.id), group));
  }

  /** Returns a group of a batch, once; `undefined` where another process committed some of it, or it was taken before. */
  remove({ cohort, id }: LoggedGroup): TrajectoryGroup | undefined {
    const played = this.#cohorts.get(cohort);
    const group = played?.groups.get(id);
    played?.groups.delete(id);
    if (played?.groups.size === 0) this.#cohorts.delete(cohort);
    // After a last commit that is repeated the group may be here in part.
    const planned = played?.lease.cohort.groups.find((each) => each.id === id);
    return group?.trajectories.length === planned?.size ? group : undefined;
  }

  abandon(learner: string, fromStep: number): void {
    for (const [id, { lease }] of this.#cohorts)
      if (lease.cohort.learner === learner && lease.cohort.step >= fromStep) this.#cohorts.delete(id);
  }
}

/** A group whose episodes were committed in several calls; members in order. */
function joined(earlier: TrajectoryGroup | undefined, group: TrajectoryGroup): TrajectoryGroup {
  if (earlier === undefined) return group;
  const members = new Map<number, Trajectory>();
  for (const each of [...group.trajectories, ...earlier.trajectories]) members.set(each.member, each);
  return { ...group, trajectories: [...members.values()].toSorted((one, other) => one.member - other.member) };
}
