import { ProcessFiles, type Usage } from "./process-files.ts";

export type { Usage } from "./process-files.ts";

/** Reads over and over what one process uses; for a tree, together with all that descend from it. */
export class UsageMeter {
  readonly pid: number;
  readonly #isTree: boolean;
  #files = new Map<number, ProcessFiles>();
  #isGone = false;

  constructor(pid: number, isTree: boolean) {
    this.pid = pid;
    this.#isTree = isTree;
  }

  /** It has been seen to be gone. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** `undefined` when the process is gone, or there is no /proc. */
  read(): Usage | undefined {
    if (this.#isGone) return undefined;
    const known = this.#files;
    const seen = new Map<number, ProcessFiles>();
    this.#files = seen;
    const usage = this.#usageOf(this.pid, known, seen);
    for (const files of known.values()) files.close();
    return usage;
  }

  /** Lets go of what it holds open. */
  close(): void {
    for (const files of this.#files.values()) files.close();
    this.#files.clear();
  }

  /** Of a process and, in a tree, what descends from it. What is still there moves from `known` to `seen`. */
  #usageOf(pid: number, known: Map<number, ProcessFiles>, seen: Map<number, ProcessFiles>): Usage | undefined {
    const own = this.#filesOf(pid, known);
    if (own === undefined) return undefined;
    seen.set(pid, own.files);
    let { rssBytes, cpuMs } = own.usage;
    for (const child of this.#isTree ? childrenOf(own.files) : []) {
      // A list that changes while it is read may name one twice.
      const usage = seen.has(child) ? undefined : this.#usageOf(child, known, seen);
      rssBytes += usage?.rssBytes ?? 0;
      cpuMs += usage?.cpuMs ?? 0;
    }
    return { rssBytes, cpuMs };
  }

  /** An id in the tree may have become another process's; the root's stays its own. */
  #filesOf(pid: number, known: Map<number, ProcessFiles>): Said | undefined {
    const held = known.get(pid);
    known.delete(pid);
    const said = saidBy(held);
    if (said !== undefined) return said;
    this.#isGone ||= pid === this.pid && held !== undefined;
    return this.#isGone ? undefined : saidBy(opened(pid));
  }
}

interface Said {
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

/** What a process's files say now; those of one that is gone are closed. */
function saidBy(files: ProcessFiles | undefined): Said | undefined {
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
