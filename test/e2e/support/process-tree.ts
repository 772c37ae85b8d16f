import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A process. The time of its start distinguishes it from a later one of the same id. */
export interface ProcessId {
  readonly pid: number;
  readonly began: string;
}

/** Returns a process and all its descendants from /proc. */
export function processTree(root: number): ProcessId[] {
  const children = new Map<number, ProcessId[]>();
  for (const name of readdirSync("/proc")) {
    const found = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (found !== undefined) children.set(found.parent, [...(children.get(found.parent) ?? []), found]);
  }
  const top = statOf(root);
  const tree = top === undefined ? [] : [top];
  for (const { pid } of tree) tree.push(...((children.get(pid) ?? []) as typeof tree));
  return tree.map(({ pid, began }) => ({ pid, began }));
}

/** Sends SIGKILL to all processes. */
export function killAll(processes: readonly ProcessId[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  }
}

/** Waits for processes to end by themselves. */
export async function gone(processes: readonly ProcessId[]): Promise<void> {
  while (processes.some(isRunning)) await sleep(50);
}

/**
 * Returns the processes of the ranks among others: children of the launcher, which has another module's name in its
 * arguments.
 */
export function ranksIn(tree: readonly ProcessId[]): number[] {
  return tree.map(({ pid }) => pid).filter((pid) => argumentsOf(pid).includes("mrlm_engine"));
}

/** Returns the arguments of a process; none for one that has ended since it was listed. */
function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch (error) {
    if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return [];
  }
}

function isRunning({ pid, began }: ProcessId): boolean {
  return statOf(pid)?.began === began;
}

/** Returns the parent and start time of a running process; `undefined` for a zombie. */
function statOf(pid: number): (ProcessId & { readonly parent: number }) | undefined {
  try {
    const [state, parent, ...rest] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ") as [string, string, ...string[]];
    return state === "Z" || state === "X" ? undefined : { pid, parent: Number(parent), began: rest[17] as string };
  } catch {
    return undefined;
  }
}
