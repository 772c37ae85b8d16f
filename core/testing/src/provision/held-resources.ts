import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Defect } from "../check/defect.ts";

/**
 * Resources of this process: number of each. On Linux the key of a child process has its number, and that of a pipe or socket its inode, because an earlier one
 * may have ended meanwhile.
 */
export type HeldResources = ReadonlyMap<string, number>;

/** Counts what this process holds: timers, servers and other handles; on Linux also child processes, pipes and sockets; and the files of a folder. */
export async function heldResources(directory: string): Promise<HeldResources> {
  const held = new Map<string, number>();
  const add = (name: string): void => void held.set(name, (held.get(name) ?? 0) + 1);
  for (const name of process.getActiveResourcesInfo()) if (!isOfTheRunner(name) && !isListed(name)) add(name);
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

/** Lists resources; a child process by its command, a socket by the addresses or the path that it connects. */
async function named(left: readonly (readonly [string, number])[]): Promise<string> {
  const addresses = await socketAddresses();
  const counts = new Map<string, number>();
  for (const [key, count] of left) {
    const [, kind, id = ""] = /^(pipe|socket|child process):\[(\d+)\]$/.exec(key) ?? [undefined, key];
    const about = kind === "child process" ? await commandOf(id) : addresses.get(id);
    const name = about === undefined ? kind : `${kind} (${about})`;
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return [...counts].map(([name, count]) => `${count} x ${name}`).join(", ");
}

async function commandOf(pid: string): Promise<string> {
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return command === "" ? `${pid}, ended` : command.replaceAll("\0", " ").trim().slice(0, 200);
}

/** Local and remote address of each TCP socket, and the path of each Unix socket that has one, by inode; formats: proc_pid_net(5). */
async function socketAddresses(): Promise<ReadonlyMap<string, string>> {
  const rowsOf = async (name: string): Promise<string[][]> => {
    const table = await readFile(`/proc/self/net/${name}`, "utf8").catch(() => "");
    return table
      .split("\n", ROWS)
      .slice(1)
      .map((line) => line.trim().split(/\s+/));
  };
  const tcp = [...(await rowsOf("tcp")), ...(await rowsOf("tcp6"))];
  const addresses = new Map<string, string>();
  for (const [, local = "", remote = "", , , , , , , inode] of tcp)
    if (inode !== undefined) addresses.set(inode, `${addressOf(local)} to ${addressOf(remote)}`);
  for (const [, , , , , , inode, path = "without a path"] of await rowsOf("unix"))
    if (inode !== undefined) addresses.set(inode, `Unix, ${path}`);
  return addresses;
}

/** Rows of a table of sockets that are read at most. */
const ROWS = 100_000;

/** Returns an address of IPv4, whose bytes stand in reverse order; one of IPv6 as `[hexadecimal digits]`. */
function addressOf(hex: string): string {
  const [host = "", port = ""] = hex.split(":");
  const name = host.length === 8 ? Buffer.from(host, "hex").reverse().join(".") : `[${host}]`;
  return `${name}:${Number.parseInt(port, 16)}`;
}

/** Whether Linux lists resources of a kind, with an identity that handles lack. */
function isListed(name: string): boolean {
  return process.platform === "linux" && ["TCPSocketWrap", "PipeWrap", "ProcessWrap"].includes(name);
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
    ...children.flatMap((list) => list.split(" ").filter((pid) => pid !== "")).map((pid) => `child process:[${pid}]`),
    ...targets.filter((target) => /^(pipe|socket):/.test(target)),
  ];
}
