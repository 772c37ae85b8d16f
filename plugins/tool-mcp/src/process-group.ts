import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { within } from "./within.ts";

/** Environment variable that marks the processes of a server. Descendants inherit it, also those that leave the process group. */
export const MARK = "MRLM_MCP_SERVER";

/** Time for a server to end: after the end of its input, then after SIGTERM. */
const GRACE_MS = 500;
const TERM_MS = 1000;

/** Marked group of processes. The leader (`npx`, for example) need not be the server. */
export interface ProcessGroup {
  /** Process id of the leader, which is the id of the group. */
  readonly pid: number;
  readonly mark: string;
  /** Settles when the leader has ended. */
  readonly ended: Promise<void>;
}

/** Ends a group whose input has been closed: waits, then SIGTERM, then SIGKILL to all that is left of it. */
export async function endGroup(group: ProcessGroup): Promise<void> {
  const { pid, mark, ended } = group;
  if (!(await within(GRACE_MS, ended))) {
    signalGroup(pid, "SIGTERM");
    await within(TERM_MS, ended);
  }
  signalGroup(pid, "SIGKILL");
  await Promise.all([ended, killMarked(mark)]);
}

/** Sends a signal to each process of a group; none may be left. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/** Largest number of searches for one server: a process that starts others faster than they are found would never end. */
const MAX_SEARCHES = 20;

/** Kills processes that have left a server's group (`setsid`). Linux only: elsewhere the variables of other processes cannot be read. */
async function killMarked(mark: string): Promise<void> {
  if (process.platform !== "linux") return;
  // Until none is found: one may have started another meanwhile, and dying takes time.
  for (let i = 0; i < MAX_SEARCHES; i++) if (!(await search(mark))) return;
}

/** Marks that the next search looks for. One search serves all servers that end at the same time. */
let wanted = new Set<string>();
let searching: Promise<ReadonlySet<string>> | undefined;

/** Kills the processes with a mark. Returns whether there were any. */
async function search(mark: string): Promise<boolean> {
  wanted.add(mark);
  searching ??= (async () => {
    await delay(5);
    const marks = wanted;
    wanted = new Set();
    searching = undefined;
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const found = await Promise.all(pids.map((pid) => killIfMarked(Number(pid), marks)));
    return new Set(found.filter((each) => each !== undefined));
  })();
  return (await searching).has(mark);
}

/** Kills a process that has one of the marks, and returns the mark. */
async function killIfMarked(pid: number, marks: ReadonlySet<string>): Promise<string | undefined> {
  try {
    const variables = await readFile(`/proc/${pid}/environ`, "latin1");
    const start = variables.indexOf(`${MARK}=`);
    if (start < 0) return undefined;
    const mark = variables.slice(start + MARK.length + 1).split("\0", 1)[0] as string;
    if (!marks.has(mark)) return undefined;
    process.kill(pid, "SIGKILL");
    return mark;
  } catch {
    // The process has ended, or belongs to another user.
    return undefined;
  }
}
