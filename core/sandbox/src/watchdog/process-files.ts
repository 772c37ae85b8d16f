import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

/** Bytes of a page, and clock ticks in a second, of every Linux that Node runs on but a few (64 KiB pages on some ARM servers). */
const PAGE_BYTES = 4096;
const TICK_MS = 10;

/** More than `stat` or a usual list of children ever has; a longer list is read in one piece by its path. */
const buffer = Buffer.allocUnsafe(4096);

/** What a process uses now. */
export interface Usage {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** A process's files in /proc, held open: reading one again costs a third of opening, reading and closing it. They outlive the process, and then say nothing. */
export class ProcessFiles {
  readonly #pid: number;
  readonly #stat: number;
  #children: number | undefined;
  #threads = 1;

  /** Throws when there is no such process (any more), or no /proc. */
  constructor(pid: number) {
    this.#pid = pid;
    this.#stat = openSync(`/proc/${pid}/stat`, "r");
  }

  /** Resident memory and processor time of the process alone. Throws when it is gone. */
  usage(): Usage {
    const stat = buffer.toString("latin1", 0, readSync(this.#stat, buffer, 0, buffer.length, 0));
    // The name of the program, in brackets, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    this.#threads = Number(fields[17]);
    return { cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, rssBytes: Number(fields[21]) * PAGE_BYTES };
  }

  /** Processes that it has started and that have not ended. Throws when it is gone. */
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
      return []; // The thread has ended: its children are another's now.
    }
  }
}

function numbers(text: string): number[] {
  return text.split(" ").filter(Boolean).map(Number);
}
