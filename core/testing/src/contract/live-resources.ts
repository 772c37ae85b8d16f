import { createHook } from "node:async_hooks";
import type { Dirent } from "node:fs";
import { mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { collectGarbage } from "./collect-garbage.ts";
import { WatchedListeners } from "./watched-listeners.ts";

/** Resource that was acquired and not released. */
export interface LeftResource {
  readonly name: string;
  readonly count: number;
  /** Stack of the first acquisition, where it is known. */
  readonly stack?: string;
  /** Whether another program could have acquired it: a file in a folder that is not of this process alone. */
  readonly isShared?: boolean;
}

/** Folder whose files are counted. */
interface WatchedFolder {
  readonly path: string;
  /** Name of one of its files. */
  readonly name: string;
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
  readonly #folders: readonly WatchedFolder[];
  /** Number of levels of each that are counted. */
  readonly #depths = new Map<string, number>();
  #before: ReadonlyMap<string, number> = new Map();

  private constructor(folder: string, folderBefore: string | undefined, folders: readonly WatchedFolder[]) {
    this.#folder = folder;
    this.#folderBefore = folderBefore;
    this.#folders = folders;
  }

  /**
   * Begins to watch. Temporary files go to a folder of their own until {@link stop}.
   * @param directory folder of the plugin's package, in a process that does nothing but check the plugin: files are found there, in the working directory and in
   * the folder of temporary files that the import saw, too
   */
  static async start(directory?: string): Promise<LiveResources> {
    const before = process.env["TMPDIR"];
    const outer = tmpdir();
    const folder = await mkdtemp(join(outer, "mrlm-check-"));
    process.env["TMPDIR"] = folder;
    const temporary = { path: directory === undefined ? folder : outer, name: TEMPORARY_FILE };
    const others = directory === undefined ? [] : foldersOf(directory, process.cwd());
    const resources = new LiveResources(folder, before, [temporary, ...others]);
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
        const isShared = this.#folders.some((each) => each.name === name && name !== TEMPORARY_FILE);
        return more >= least ? [{ name, count: more, isShared }] : [];
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
    const paths = this.#folders.map(({ path }) => path);
    for (const { path, name } of this.#folders) {
      const depth = this.#depths.get(path) ?? (await countableLevels(path, paths));
      this.#depths.set(path, depth);
      add(name, await countFiles(path, paths, depth));
    }
    for (const name of await linuxResources()) add(name);
    return counts;
  }
}

const TEMPORARY_FILE = "temporary file";

/** Returns the folders in which a plugin may write by mistake. A working directory within the package is a part of it. */
function foldersOf(directory: string, working: string): WatchedFolder[] {
  const own = { path: directory, name: "file in the package's folder" };
  const isWithin = working === directory || working.startsWith(`${directory}${sep}`);
  return isWithin ? [own] : [own, { path: working, name: "file in the working directory" }];
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

/** Files of installed packages and of version control are many, and not those of an episode. */
const SKIPPED = new Set(["node_modules", ".git"]);
/** A working directory can be a whole disk. */
const MAX_FILES = 5_000;

/** Returns how many levels of a folder can be counted in a short time: all of most, the outermost of a large one. */
async function countableLevels(folder: string, others: readonly string[]): Promise<number> {
  let [count, depth] = [0, 0];
  for await (const files of levels(folder, others)) {
    count += files;
    if (count > MAX_FILES) return Math.max(1, depth);
    depth++;
  }
  return Number.POSITIVE_INFINITY;
}

/** Counts the files and folders in the outermost levels of a folder. Leaves out the folders of `others`. */
async function countFiles(folder: string, others: readonly string[], depth: number): Promise<number> {
  let [count, level] = [0, 0];
  for await (const files of levels(folder, others)) {
    count += files;
    if (++level >= depth) break;
  }
  return count;
}

/** Yields the number of files and folders of each level. */
async function* levels(folder: string, others: readonly string[]): AsyncGenerator<number> {
  for (let folders = [folder]; folders.length > 0;) {
    const inner: string[] = [];
    let count = 0;
    for (const path of folders)
      // It can be removed meanwhile.
      for (const entry of await readdir(path, { withFileTypes: true }).catch((): Dirent[] => [])) {
        if (SKIPPED.has(entry.name) || others.includes(join(path, entry.name))) continue;
        count++;
        if (entry.isDirectory()) inner.push(join(path, entry.name));
      }
    yield count;
    folders = inner;
  }
}
