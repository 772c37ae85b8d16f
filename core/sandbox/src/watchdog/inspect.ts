import { CAUSE, fieldAt, sharedNow, SLOTS, type WatchTable } from "./table.ts";
import { type Usage, usageOf, usageOfTree } from "./usage.ts";

/** Memory can grow no faster than this: a page fault costs the kernel about a microsecond. */
const BYTES_PER_MS = 4e6;
const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 10;

/** Looks at every armed child once. Returns the milliseconds until it must look again. */
export function inspect(table: WatchTable): number {
  let pauseMs = Number.POSITIVE_INFINITY;
  for (let slot = 0; slot < SLOTS; slot++) {
    const run = Atomics.load(table.armed, slot);
    if (run !== 0) pauseMs = Math.min(pauseMs, inspectSlot(table, slot, run));
  }
  return pauseMs;
}

function inspectSlot({ armed, values }: WatchTable, slot: number, run: number): number {
  const at = (field: Parameters<typeof fieldAt>[1]): number => values[fieldAt(slot, field)] as number;
  const pid = at("pid");
  const usage = at("isTree") === 1 ? usageOfTree(pid) : usageOf(pid);
  const leftMs = at("deadline") - sharedNow();
  if (usage !== undefined) {
    values[fieldAt(slot, "peak")] = Math.max(at("peak"), usage.rssBytes);
    values[fieldAt(slot, "cpu")] = usage.cpuMs;
  }
  const cause = causeOf(leftMs, usage, at("cpuLimit"), at("memoryLimit"));
  if (cause === CAUSE.none) {
    const memoryMs = usage === undefined ? LONGEST_PAUSE_MS : (at("memoryLimit") - usage.rssBytes) / BYTES_PER_MS;
    return Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, leftMs, memoryMs));
  }
  values[fieldAt(slot, "cause")] = cause;
  // Whoever sets the word to 0 decides: a run that ends at this moment is not killed any more, nor is the next one.
  if (Atomics.compareExchange(armed, slot, run, 0) === run) kill(pid);
  return SHORTEST_PAUSE_MS;
}

function causeOf(leftMs: number, usage: Usage | undefined, cpuLimit: number, memoryLimit: number): number {
  if (usage !== undefined && usage.rssBytes > memoryLimit) return CAUSE.memory;
  if (usage !== undefined && usage.cpuMs > cpuLimit) return CAUSE.cpu;
  return leftMs <= 0 ? CAUSE.wall : CAUSE.none;
}

/** In a PID namespace this is its first process, and all others go with it; otherwise it leads a process group. */
function kill(pid: number): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // Not a group's leader, or gone already.
    }
  }
}
