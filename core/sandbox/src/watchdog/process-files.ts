import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

/** Page size in bytes and clock ticks per second of Linux, except for some ARM servers with pages of 64 KiB. */
const PAGE_BYTES = 4096;
const TICK_MS = 10;

/** Buffer longer than `stat` and most lists of children; a longer list is read by its path. */
const buffer = Buffer.allocUnsafe(4096);

/** Current use of resources by a process. */
export interface Usage {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** Open files of a process in /proc. Reading an open file again costs a third of opening, reading and closing it. */
export class ProcessFiles {
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
  usage(): Usage {
    const stat = buffer.toString("latin1", 0, readSync(this.#stat, buffer, 0, buffer.length, 0));
    // The name of the program, in brackets, may contain any characters.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    this.#threads = Number(fields[17]);
    return { cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, rssBytes: Number(fields[21]) * PAGE_BYTES };
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
