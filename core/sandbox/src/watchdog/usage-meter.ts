import { ProcessFiles, type Usage } from "./process-files.ts";

export type { Usage } from "./process-files.ts";

/** Measures the resources that a process uses; for a tree, together with its descendants. */
export class UsageMeter {
  readonly pid: number;
  readonly #isTree: boolean;
  #files = new Map<number, ProcessFiles>();
  #isGone = false;

  constructor(pid: number, isTree: boolean) {
    this.pid = pid;
    this.#isTree = isTree;
  }

  /** Whether a measurement found that the process has exited. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Measures; `undefined` if the process has exited or there is no /proc. */
  read(): Usage | undefined {
    if (this.#isGone) return undefined;
    const known = this.#files;
    const seen = new Map<number, ProcessFiles>();
    this.#files = seen;
    const usage = this.#usageOf(this.pid, known, seen);
    for (const files of known.values()) files.close();
    return usage;
  }

  /** Closes the open files. */
  close(): void {
    for (const files of this.#files.values()) files.close();
    this.#files.clear();
  }

  /** Measures a process and, in a tree, its descendants. Moves the files of running processes from `known` to `seen`. */
  #usageOf(pid: number, known: Map<number, ProcessFiles>, seen: Map<number, ProcessFiles>): Usage | undefined {
    const own = this.#filesOf(pid, known);
    if (own === undefined) return undefined;
    seen.set(pid, own.files);
    let { rssBytes, cpuMs } = own.usage;
    for (const child of this.#isTree ? childrenOf(own.files) : []) {
      // A list that changes during the read may contain a process twice.
      const usage = seen.has(child) ? undefined : this.#usageOf(child, known, seen);
      rssBytes += usage?.rssBytes ?? 0;
      cpuMs += usage?.cpuMs ?? 0;
    }
    return { rssBytes, cpuMs };
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
  readonly usage: Usage;
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
