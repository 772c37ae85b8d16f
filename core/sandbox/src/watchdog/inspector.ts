import { killGroup } from "./kill-group.ts";
import { CAUSE, fieldAt, pauseMs, sharedNow, SLOTS, type WatchTable } from "./table.ts";
import { type Usage, UsageMeter } from "./usage-meter.ts";

/** Slot and run of a killed child. */
export interface Killed {
  readonly slot: number;
  readonly run: number;
}

/** Checks armed child processes; kills those over a limit. */
export class Inspector {
  readonly #table: WatchTable;
  readonly #onKill: (killed: Killed) => void;
  readonly #meters = new Map<number, UsageMeter>();

  constructor(table: WatchTable, onKill: (killed: Killed) => void) {
    this.#table = table;
    this.#onKill = onKill;
  }

  /** Checks every armed child once. Returns the milliseconds until the next check. */
  inspect(): number {
    let longestMs = Number.POSITIVE_INFINITY;
    for (let slot = 0; slot < SLOTS; slot++) {
      const run = Atomics.load(this.#table.armed, slot);
      if (run !== 0) longestMs = Math.min(longestMs, this.#inspectSlot(slot, run));
    }
    return longestMs;
  }

  #inspectSlot(slot: number, run: number): number {
    const { armed, values } = this.#table;
    const at = (field: Parameters<typeof fieldAt>[1]): number => values[fieldAt(slot, field)] as number;
    const pid = at("pid");
    const processLimit = at("processLimit");
    const usage = this.#meterOf(slot, pid, at("isTree") === 1, processLimit > 0).read(processLimit || undefined);
    const leftMs = at("deadline") - sharedNow();
    if (usage !== undefined) {
      values[fieldAt(slot, "peak")] = Math.max(at("peak"), usage.rssBytes);
      values[fieldAt(slot, "cpu")] = usage.cpuMs;
    }
    const hasTooMany = processLimit > 0 && (usage?.processes ?? 0) > processLimit;
    const cause = hasTooMany ? CAUSE.processes : causeOf(leftMs, usage, at("cpuLimit"), at("memoryLimit"));
    if (cause === CAUSE.none)
      return pauseMs(leftMs, usage === undefined ? Number.POSITIVE_INFINITY : at("memoryLimit") - usage.rssBytes);
    values[fieldAt(slot, "cause")] = cause;
    // The side that sets the word to 0 decides: a run that has just ended is not killed, nor is the next one.
    if (Atomics.compareExchange(armed, slot, run, 0) === run) {
      killGroup(pid);
      this.#onKill({ slot, run });
    }
    return pauseMs(0, 0);
  }

  #meterOf(slot: number, pid: number, isTree: boolean, countsEnded: boolean): UsageMeter {
    const known = this.#meters.get(slot);
    if (known?.pid === pid && !known.isGone) return known;
    known?.close();
    const meter = new UsageMeter(pid, isTree, countsEnded);
    this.#meters.set(slot, meter);
    return meter;
  }
}

function causeOf(leftMs: number, usage: Usage | undefined, cpuLimit: number, memoryLimit: number): number {
  if (usage !== undefined && usage.rssBytes > memoryLimit) return CAUSE.memory;
  if (usage !== undefined && usage.cpuMs > cpuLimit) return CAUSE.cpu;
  return leftMs <= 0 ? CAUSE.deadline : CAUSE.none;
}
