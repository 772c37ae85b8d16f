import { readdirSync, readFileSync } from "node:fs";

/** Bytes of a page, and clock ticks in a second, of every Linux that Node runs on but a few (64 KiB pages on some ARM servers). */
const PAGE_BYTES = 4096;
const TICK_MS = 10;

/** What a process uses now. */
export interface Usage {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** Resident memory and processor time of a process; `undefined` when there is none of that id (any more), or no /proc. */
export function usageOf(pid: number): Usage | undefined {
  try {
    // The name of the program, in brackets, may hold anything.
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, rssBytes: Number(fields[21]) * PAGE_BYTES };
  } catch {
    return undefined;
  }
}

/** The same of a process with all that descend from it. */
export function usageOfTree(pid: number): Usage | undefined {
  const own = usageOf(pid);
  if (own === undefined) return undefined;
  let { rssBytes, cpuMs } = own;
  for (const child of childrenOf(pid)) {
    const usage = usageOfTree(child);
    rssBytes += usage?.rssBytes ?? 0;
    cpuMs += usage?.cpuMs ?? 0;
  }
  return { rssBytes, cpuMs };
}

/** Processes that `pid` has started and that have not ended. */
export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}
