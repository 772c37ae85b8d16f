import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Defect } from "../check/defect.ts";

/** Resources of this process: number of each. A pipe or socket of Linux has its inode in its key, because an earlier one may be closed meanwhile. */
export type HeldResources = ReadonlyMap<string, number>;

/** Counts what this process holds: timers, servers and other handles; on Linux also child processes, pipes and sockets; and the files of a folder. */
export async function heldResources(directory: string): Promise<HeldResources> {
  const held = new Map<string, number>();
  const add = (name: string): void => void held.set(name, (held.get(name) ?? 0) + 1);
  for (const name of process.getActiveResourcesInfo()) if (!isOfTheRunner(name) && !isDescriptor(name)) add(name);
  for (const name of await linuxResources()) add(name);
  for (const name of await readdir(directory)) add(`file ${name}`);
  return held;
}

/** Fails unless what was not held before is released within a time. Processes end asynchronously. */
export async function assertReleased(
  before: HeldResources,
  { directory, releaseMs }: { readonly directory: string; readonly releaseMs: number },
  what: string,
): Promise<void> {
  const end = performance.now() + releaseMs;
  for (;;) {
    const now = await heldResources(directory);
    const left = [...now].filter(([name, count]) => count > (before.get(name) ?? 0));
    if (left.length === 0) return;
    if (performance.now() > end) {
      const list = await named(left.map(([name, count]) => [name, count - (before.get(name) ?? 0)]));
      throw new Defect("PROVISION_LEAK", `${what}, and this process still has: ${list}.`, { about: "close" });
    }
    await delay(50);
  }
}

/** Lists resources; a TCP socket by the addresses that it connects. */
async function named(left: readonly (readonly [string, number])[]): Promise<string> {
  const addresses = await tcpAddresses();
  const counts = new Map<string, number>();
  for (const [key, count] of left) {
    const [, kind, inode = ""] = /^(pipe|socket):\[(\d+)\]$/.exec(key) ?? [undefined, key];
    const name = addresses.has(inode) ? `${kind} (${addresses.get(inode)})` : kind;
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return [...counts].map(([name, count]) => `${count} x ${name}`).join(", ");
}

/** Local and remote address of each TCP socket of IPv4, by inode; format: proc_pid_net(5). */
async function tcpAddresses(): Promise<ReadonlyMap<string, string>> {
  const table = await readFile("/proc/self/net/tcp", "utf8").catch(() => "");
  const rows = table.split("\n").map((line) => line.trim().split(/\s+/));
  return new Map(
    rows.slice(1).flatMap(([, local = "", remote = "", , , , , , , inode]) => {
      return inode === undefined ? [] : [[inode, `${addressOf(local)} to ${addressOf(remote)}`] as const];
    }),
  );
}

function addressOf(hex: string): string {
  const [host = "", port = ""] = hex.split(":");
  return `${Buffer.from(host, "hex").reverse().join(".")}:${Number.parseInt(port, 16)}`;
}

/** Whether a handle has a descriptor that Linux lists, with an identity that handles lack. */
function isDescriptor(name: string): boolean {
  return process.platform === "linux" && ["TCPSocketWrap", "PipeWrap"].includes(name);
}

/** Requests of the file system and timers come and go with the test runner and this function. */
function isOfTheRunner(name: string): boolean {
  return ["FSReqPromise", "FSReqCallback", "CloseReq", "Timeout", "Immediate"].includes(name);
}

async function linuxResources(): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const threads = await readdir("/proc/self/task");
  const children = await Promise.all(
    threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, "utf8").catch(() => "")),
  );
  const descriptors = await readdir("/proc/self/fd");
  const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
  return [
    ...children.flatMap((list) => list.split(" ").filter((pid) => pid !== "")).map(() => "child process"),
    ...targets.filter((target) => /^(pipe|socket):/.test(target)),
  ];
}
