import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";

/** Measures the resources that a process uses; for a tree, together with its descendants. */
export class UsageMeter {
  readonly pid: number;
  readonly #isTree: boolean;
  readonly #countsEnded: boolean;
  #files = new Map<number, ProcessFiles>();
  #isGone = false;

  /** @param countsEnded whether processor time includes that of descendants which have ended and were waited for */
  constructor(pid: number, isTree: boolean, countsEnded = false) {
    this.pid = pid;
    this.#isTree = isTree;
    this.#countsEnded = countsEnded;
  }

  /** Whether a measurement found that the process has exited. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /**
   * Measures; `undefined` if the process has exited or there is no /proc.
   * @param mostProcesses one more than these are counted: a tree that grows faster than it is read has no end
   */
  read(mostProcesses = Number.POSITIVE_INFINITY): Usage | undefined {
    if (this.#isGone) return undefined;
    const known = this.#files;
    const seen = new Map<number, ProcessFiles>();
    this.#files = seen;
    const usage = this.#usageOf(this.pid, known, seen, mostProcesses);
    for (const files of known.values()) files.close();
    return usage;
  }

  /** Closes the open files. */
  close(): void {
    for (const files of this.#files.values()) files.close();
    this.#files.clear();
  }

  /** Measures a process and, in a tree, its descendants. Moves the files of running processes from `known` to `seen`. */
  #usageOf(
    pid: number,
    known: Map<number, ProcessFiles>,
    seen: Map<number, ProcessFiles>,
    mostProcesses: number,
  ): Usage | undefined {
    const own = this.#filesOf(pid, known);
    if (own === undefined) return undefined;
    seen.set(pid, own.files);
    let { rssBytes, cpuMs, processes } = own.usage;
    if (this.#isTree) rssBytes += own.files.socketBytes();
    if (this.#countsEnded) cpuMs += own.usage.endedCpuMs;
    for (const child of this.#isTree ? childrenOf(own.files) : []) {
      if (seen.size > mostProcesses) break;
      // A list that changes during the read may contain a process twice.
      const usage = seen.has(child) ? undefined : this.#usageOf(child, known, seen, mostProcesses);
      rssBytes += usage?.rssBytes ?? 0;
      cpuMs += usage?.cpuMs ?? 0;
      processes += usage?.processes ?? 0;
    }
    return { rssBytes, cpuMs, processes };
  }

  /** Opens or reuses the files of a process. An id in the tree may belong to a new process; that of the root cannot. */
  #filesOf(pid: number, known: Map<number, ProcessFiles>): Reading | undefined {
    const held = known.get(pid);
    known.delete(pid);
    const reading = readFiles(held);
    if (reading !== undefined) return reading;
    this.#isGone ||= pid === this.pid && held !== undefined;
    return this.#isGone ? undefined : readFiles(opened(pid));
  }
}

interface Reading {
  readonly files: ProcessFiles;
  readonly usage: Usage & { readonly endedCpuMs: number };
}

function opened(pid: number): ProcessFiles | undefined {
  try {
    return new ProcessFiles(pid);
  } catch {
    return undefined;
  }
}

/** Reads a process's files; closes those of a process that has exited. */
function readFiles(files: ProcessFiles | undefined): Reading | undefined {
  try {
    return files === undefined ? undefined : { files, usage: files.usage() };
  } catch {
    files?.close();
    return undefined;
  }
}

function childrenOf(files: ProcessFiles): number[] {
  try {
    return files.children();
  } catch {
    return [];
  }
}

/** Page size in bytes and clock ticks per second of Linux, except for some ARM servers with pages of 64 KiB. */
const PAGE_BYTES = 4096;
const TICK_MS = 10;

/** Open files of a process that count as nothing, and the buffer of a socket that each further one counts as (net.core.wmem_default of Linux). */
const FREE_FILES = 64;
const SOCKET_BYTES = 212_992;

/** Buffer longer than `stat` and most lists of children; a longer list is read by its path. */
const buffer = Buffer.allocUnsafe(4096);

/** Current use of resources by a process. */
export interface Usage {
  readonly rssBytes: number;
  readonly cpuMs: number;
  readonly processes: number;
}

/** Open files of a process in /proc. Reading an open file again costs a third of opening, reading and closing it. */
class ProcessFiles {
  readonly #pid: number;
  readonly #stat: number;
  #children: number | undefined;
  #threads = 1;

  /** Throws if there is no such process, or no /proc. */
  constructor(pid: number) {
    this.#pid = pid;
    this.#stat = openSync(`/proc/${pid}/stat`, "r");
  }

  /** Returns resident memory and processor time of the process alone. Throws if it has exited. */
  usage(): Reading["usage"] {
    const stat = buffer.toString("latin1", 0, readSync(this.#stat, buffer, 0, buffer.length, 0));
    // The name of the program, in brackets, may contain any characters.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    this.#threads = Number(fields[17]);
    return {
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      endedCpuMs: (Number(fields[13]) + Number(fields[14])) * TICK_MS,
      rssBytes: Number(fields[21]) * PAGE_BYTES,
      processes: 1,
    };
  }

  /** Returns the most memory of the kernel that its sockets have, which counts toward no process. */
  socketBytes(): number {
    const path = `/proc/${this.#pid}/fd`;
    try {
      // Before Linux 6.2 the folder has no size.
      const files = statSync(path).size || readdirSync(path).length;
      return Math.max(0, files - FREE_FILES) * SOCKET_BYTES;
    } catch {
      return 0; // It has ended.
    }
  }

  /** Returns the running processes that it started. Throws if it has exited. */
  children(): number[] {
    if (this.#threads !== 1)
      return readdirSync(`/proc/${this.#pid}/task`).flatMap((thread) => this.#childrenOf(thread));
    this.#children ??= openSync(`/proc/${this.#pid}/task/${this.#pid}/children`, "r");
    const length = readSync(this.#children, buffer, 0, buffer.length, 0);
    return length < buffer.length ? numbers(buffer.toString("latin1", 0, length)) : this.#childrenOf(String(this.#pid));
  }

  close(): void {
    closeSync(this.#stat);
    if (this.#children !== undefined) closeSync(this.#children);
  }

  #childrenOf(thread: string): number[] {
    try {
      return numbers(readFileSync(`/proc/${this.#pid}/task/${thread}/children`, "latin1"));
    } catch {
      return []; // The thread has ended: its children have another parent now.
    }
  }
}

function numbers(text: string): number[] {
  return text.split(" ").filter(Boolean).map(Number);
}
