/** CPU seconds and memory of a process and all its descendants, from /proc (Linux). */
import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks a second of /proc/PID/stat: 100 on every Linux that Node runs on. */
const TICKS = 100;

interface Process {
  readonly parent: number;
  /** User and system seconds of the process and of its children that have ended. */
  readonly cpuSeconds: number;
  readonly pid: number;
}

export function treeCpuSeconds(root: number): number {
  return tree(root).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

export function treeMemoryMib(root: number): number {
  // A page that several processes share counts in equal parts for each.
  return tree(root).reduce((sum, { pid }) => sum + kibOf(pid, "smaps_rollup", "Pss"), 0) / 1024;
}

/** Returns the sum of the peaks of the resident memory of a process and its descendants, in MiB. */
export function treePeakMib(root: number): number {
  return tree(root).reduce((sum, { pid }) => sum + kibOf(pid, "status", "VmHWM"), 0) / 1024;
}

/** Returns the processes that a process has started and that run. */
export function childrenOf(parent: number): number[] {
  return tree(parent).flatMap((process) => (process.parent === parent ? [process.pid] : []));
}

function tree(root: number): Process[] {
  const processes = new Map<number, Process>();
  for (const name of readdirSync("/proc")) {
    const process = /^\d+$/.test(name) ? read(name) : undefined;
    if (process !== undefined) processes.set(Number(name), process);
  }
  const isOurs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = processes.get(at)?.parent)
      if (at === root) return true;
    return false;
  };
  return [...processes].flatMap(([pid, process]) => (isOurs(pid) ? [process] : []));
}

function read(pid: string): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name in parentheses that may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), cpuSeconds: ticks / TICKS, pid: Number(pid) };
  } catch {
    return undefined; // The process has ended in the meantime.
  }
}

/** Returns a figure of a file of /proc/PID; 0 for a process that has ended. */
function kibOf(pid: number, file: "status" | "smaps_rollup", name: string): number {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
