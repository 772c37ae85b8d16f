import { readdirSync } from "node:fs";
import type { Processes } from "./processes.ts";

const MEGABYTE = 1024 * 1024;

/** Resources of this process and its descendants at one moment. */
export interface Sample {
  readonly rss_mb: number;
  readonly descriptors: number;
  readonly members: number;
  /** Resident memory of all members in megabytes. */
  readonly members_mb: number;
}

export function sample(processes: Processes): Sample {
  const members = processes.below();
  return {
    rss_mb: Math.round(process.memoryUsage.rss() / MEGABYTE),
    descriptors: readdirSync("/proc/self/fd").length,
    members: members.length,
    members_mb: Math.round(members.reduce((sum, { rssBytes }) => sum + rssBytes, 0) / MEGABYTE),
  };
}

/** Returns the growth of each figure: the median of the last quarter minus the median of the second quarter. The first quarter is warm-up. */
export function growth(samples: readonly Sample[]): Omit<Sample, "members"> {
  const quarter = Math.floor(samples.length / 4);
  const of = (name: keyof Sample): number =>
    median(samples.slice(-quarter || undefined).map((one) => one[name])) -
    median(samples.slice(quarter, 2 * quarter || undefined).map((one) => one[name]));
  return { rss_mb: of("rss_mb"), descriptors: of("descriptors"), members_mb: of("members_mb") };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
