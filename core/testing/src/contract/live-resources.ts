import { createHook } from "node:async_hooks";
import { mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { collectGarbage } from "./collect-garbage.ts";
import { WatchedListeners } from "./watched-listeners.ts";

/** Resource that was acquired and not released. */
export interface LeftResource {
  readonly name: string;
  readonly count: number;
  /** Stack of the first acquisition, where it is known. */
  readonly stack?: string;
}

/** Watches what this process acquires: timers, handles, child processes, listeners, temporary files. */
export class LiveResources {
  /** Live resources with their stacks. One that does not keep the process alive is one too. */
  readonly #live = new Map<number, { readonly name: string; readonly stack: string }>();
  readonly #hook = createHook({
    init: (id, type) => {
      const name = TYPES[type];
      if (name !== undefined) this.#live.set(id, { name, stack: new Error(name).stack ?? "" });
    },
    destroy: (id) => void this.#live.delete(id),
  });
  readonly #listeners = new WatchedListeners();
  readonly #folder: string;
  readonly #folderBefore: string | undefined;
  #before: ReadonlyMap<string, number> = new Map();

  private constructor(folder: string, folderBefore: string | undefined) {
    this.#folder = folder;
    this.#folderBefore = folderBefore;
  }

  /** Begins to watch. Temporary files go to a folder of their own until {@link stop}. */
  static async start(): Promise<LiveResources> {
    const before = process.env["TMPDIR"];
    const folder = await mkdtemp(join(tmpdir(), "mrlm-check-"));
    process.env["TMPDIR"] = folder;
    const resources = new LiveResources(folder, before);
    resources.#before = await resources.#count();
    resources.#hook.enable();
    resources.#listeners.start();
    return resources;
  }

  /** Waits until what was acquired is released, at most `withinMs`. Returns what is left, `least` or more of each. */
  left(withinMs: number, least: number): Promise<LeftResource[]> {
    return poll(withinMs, async () => {
      const now = await this.#count();
      const left = [...now].flatMap(([name, count]): LeftResource[] => {
        const more = count - (this.#before.get(name) ?? 0);
        return more >= least ? [{ name, count: more }] : [];
      });
      for (const [name, all = []] of Object.entries(Object.groupBy(this.#live.values(), (each) => each.name)))
        // The first timer is often one of this class.
        if (all.length >= least) left.unshift({ name, count: all.length, stack: all[all.length >> 1]?.stack ?? "" });
      return [...left, ...this.#listeners.left(least)];
    });
  }

  /** Waits until listeners are removed, as {@link left}. Those of an object of the whole plugin can be found before its close only. */
  leftListeners(withinMs: number, least: number): Promise<LeftResource[]> {
    return poll(withinMs, async () => this.#listeners.left(least));
  }

  async stop(): Promise<void> {
    this.#hook.disable();
    this.#listeners.stop();
    if (this.#folderBefore === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = this.#folderBefore;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #count(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    const add = (name: string, count = 1): void => void counts.set(name, (counts.get(name) ?? 0) + count);
    for (const name of process.getActiveResourcesInfo()) if (!TRANSIENT.has(name)) add(`handle ${name}`);
    add("temporary file", (await readdir(this.#folder, { recursive: true })).length);
    for (const name of await linuxResources()) add(name);
    return counts;
  }
}

/** Looks until there is nothing, at most `withinMs`. */
async function poll<T>(withinMs: number, look: () => Promise<T[]>): Promise<T[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found.length === 0 || performance.now() > deadline) return found;
    await delay(50);
    // An object that nothing refers to is released.
    collectGarbage();
  }
}

/** Names of the types of asynchronous resources that live until they are closed. */
const TYPES: Readonly<Record<string, string>> = {
  FSEVENTWRAP: "file watcher",
  HTTP2SESSION: "HTTP/2 session",
  Immediate: "timer",
  PIPEWRAP: "pipe",
  PROCESSWRAP: "child process",
  STATWATCHER: "file watcher",
  TCPSERVERWRAP: "server",
  TCPWRAP: "socket",
  Timeout: "timer",
  UDPWRAP: "socket",
  WORKER: "worker",
};

/** They come and go with this class, or are counted otherwise. */
const TRANSIENT = new Set(["FSReqPromise", "FSReqCallback", "CloseReq", "Timeout", "Immediate", "FileHandle"]);

async function linuxResources(): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const threads = await readdir("/proc/self/task");
  const children = await Promise.all(
    threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, "utf8").catch(() => "")),
  );
  const descriptors = await readdir("/proc/self/fd");
  const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
  return [
    ...children.flatMap((list) => list.split(" ").filter((pid) => pid !== "")).map(() => "child process"),
    ...targets.flatMap((target) => (/^(pipe|socket):/.test(target) ? [] : target.startsWith("/") ? ["open file"] : [])),
  ];
}
