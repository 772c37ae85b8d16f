import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** Whether a process of this machine is alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Returns the time at which a process started, in ticks since the machine did: with the pid it names a process for ever, because pids are used again.
 * `undefined` for a process that has ended or waits for its parent, and where there is no /proc. Source: proc_pid_stat(5), fields 3 and 22.
 */
export function startTimeOf(pid: number): number | undefined {
  // The name of the program, in brackets, may contain any characters.
  const fields = readProcess(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ");
  return isRunning(fields[0]) ? Number(fields[19]) : undefined;
}

/** Whether a process runs that started at a time; a process that has the pid of one that ended started later. @param started 0: unknown */
export function runsSince(pid: number, started: number): boolean {
  return isAlive(pid) && (started === 0 || startTimeOf(pid) === started);
}

/** Returns a label of this process, by which others find what it left: its machine, pid and start time. */
export function ownerLabel(): string {
  return `${hostname()} ${process.pid} ${startTimeOf(process.pid) ?? 0}`;
}

/** Whether a label names a process of this machine that has ended. */
export function hasOwnerEnded(label: string): boolean {
  const [machine, pid, started] = label.split(" ");
  return machine === hostname() && !runsSince(Number(pid), Number(started));
}

/** Returns the parent of a process that runs. */
export function parentOf(pid: number): number | undefined {
  const [state, parent] = readProcess(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ");
  return isRunning(state) ? Number(parent) : undefined;
}

/** Returns the text of a file in /proc, which is empty for a process that has ended or belongs to another user. */
export function readProcess(pid: number, file: "cmdline" | "environ" | "stat"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

function isRunning(state: string | undefined): boolean {
  return state !== undefined && !["", "Z", "X"].includes(state);
}
