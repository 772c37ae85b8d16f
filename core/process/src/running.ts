import { readFileSync, readlinkSync } from "node:fs";
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

/**
 * Whether a process runs that started at a time; a process that has the pid of one that ended started later. One that this user may not see (`hidepid`) runs.
 * @param started 0: unknown
 */
export function runsSince(pid: number, started: number): boolean {
  return isAlive(pid) && (started === 0 || readProcess(pid, "stat") === "" || startTimeOf(pid) === started);
}

/** Returns a label of this process, by which others find what it left: its pid and start time, and where these hold. */
export function ownerLabel(): string {
  return `${process.pid} ${startTimeOf(process.pid) ?? 0} ${pidScope()}`;
}

/** Whether a label names a process that has ended; `false` for one whose pids are not those of this process. */
export function hasOwnerEnded(label: string): boolean {
  const [pid, started, ...scope] = label.split(" ");
  return scope.join(" ") === pidScope() && !runsSince(Number(pid), Number(started));
}

/** Names the machine, its start, and the process namespace. Two containers of a machine may have the same name. */
function pidScope(): string {
  const read = (work: () => string): string => {
    try {
      return work().trim();
    } catch {
      return "-";
    }
  };
  const boot = read(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1"));
  return [hostname(), boot, read(() => readlinkSync("/proc/self/ns/pid"))].join(" ");
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
