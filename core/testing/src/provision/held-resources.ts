import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { Defect } from "../check/defect.ts";

/** Resources of this process: name and number. */
export type HeldResources = ReadonlyMap<string, number>;

/** Counts what this process holds: timers, servers and other handles; on Linux also child processes, pipes and sockets; and the files of a folder. */
export async function heldResources(directory: string): Promise<HeldResources> {
  const held = new Map<string, number>();
  const add = (name: string): void => void held.set(name, (held.get(name) ?? 0) + 1);
  for (const name of process.getActiveResourcesInfo()) if (!isOfTheRunner(name)) add(name);
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
      const list = left.map(([name, count]) => `${count - (before.get(name) ?? 0)} x ${name}`).join(", ");
      throw new Defect("PROVISION_LEAK", `${what}, and this process still has: ${list}.`, { about: "close" });
    }
    await delay(50);
  }
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
    ...targets.flatMap((target) => /^(pipe|socket):/.exec(target)?.[1] ?? []),
  ];
}
