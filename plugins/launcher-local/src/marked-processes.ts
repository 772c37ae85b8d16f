import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Environment variable of every process that a launcher starts, with the id of the launcher. Processes that these start inherit it. */
export const MARK = "MRLM_LAUNCHER";

const POLL_MS = 50;
/** Rounds of SIGKILL: a process could have started another one before it was killed. */
const ROUNDS = 20;

/**
 * Ends process groups and, on Linux, all processes with the mark: the groups by SIGTERM and after `graceMs` by SIGKILL, what has left them by SIGKILL.
 * @param groups ids of the groups, read again in each step
 */
export async function endMarked(id: string, groups: () => readonly number[], graceMs: number): Promise<void> {
  for (const group of groups()) send(-group, "SIGTERM");
  const end = performance.now() + graceMs;
  while (hasLeader(id, groups()) && performance.now() < end) await delay(POLL_MS);
  for (let round = 0; round < ROUNDS; round++) {
    const killed = groups().filter((group) => send(-group, "SIGKILL"));
    const left = process.platform === "linux" ? marked(id) : killed;
    for (const pid of left) send(pid, "SIGKILL");
    if (left.length === 0) break;
    await delay(POLL_MS);
  }
}

/** Kills what a process left in its group. */
export function killGroup(group: number): void {
  send(-group, "SIGKILL");
}

/** Whether the leader of a group runs. On Linux a zombie, which has no environment, does not. */
function hasLeader(id: string, groups: readonly number[]): boolean {
  if (process.platform !== "linux") return groups.some((group) => send(group, 0));
  return groups.length > 0 && marked(id).some((pid) => groups.includes(pid));
}

/** Lists the running processes with the mark; none where the system has no /proc. */
function marked(id: string): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).split("\0").includes(`${MARK}=${id}`))
    .map(Number);
}

/** Returns the variables of a process; none of one that has ended or belongs to another user. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    // It has ended.
    return false;
  }
}
