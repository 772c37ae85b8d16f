import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";

/** Ticks per second of the times in /proc. Linux shows 100 to programs on every architecture. */
const TICKS = 100;

/**
 * CPU time of this process and of its children that have ended, theirs included, in seconds. NaN where there is no /proc.
 * Source: proc_pid_stat(5).
 */
export function ownCpuSeconds() {
  const file = "/proc/self/stat";
  if (!existsSync(file)) return NaN;
  // The name of the program, which may hold blanks, ends with the last parenthesis.
  const fields = readFileSync(file, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

/** CPU time of all processes of the machine, in seconds. */
export function machineCpuSeconds() {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
}

/**
 * Starts a measurement. The function that it returns gives the CPU seconds of this process and its children since then, and the share of the machine's
 * CPUs (0 to 1) that other processes took. Both are NaN where they cannot be measured.
 */
export function measureCpu() {
  const [own, machine, started] = [ownCpuSeconds(), machineCpuSeconds(), performance.now()];
  return () => {
    const seconds = ownCpuSeconds() - own;
    const capacity = ((performance.now() - started) / 1000) * availableParallelism();
    return { seconds, others: Math.max(0, machineCpuSeconds() - machine - seconds) / capacity };
  };
}

/** Milliseconds of {@link slowness}'s work on the CPU that the limits of durations are stated for: 2 virtual cores of a server of 2024. */
const REFERENCE_MS = 55;

/**
 * Ratio of this machine's duration to that of the machine that limits of durations are stated for, at least 1: the shortest of five measurements of a
 * fixed piece of work, so that other processes change it little.
 */
export function slowness() {
  const value = Array.from({ length: 200 }, (_, i) => ({
    name: `n${i}`,
    values: [i, i / 3, `${i}`],
    nested: { ok: true },
  }));
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now();
    for (let i = 0; i < 500; i++) JSON.parse(JSON.stringify(value));
    return performance.now() - started;
  });
  return Math.max(1, Math.min(...times) / REFERENCE_MS);
}
