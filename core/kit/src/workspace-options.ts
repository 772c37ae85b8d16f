import type { WorkspaceLimits } from "@mrlm/spec";
import { z } from "zod";

const MEGABYTE = 2 ** 20;

/** Limits of a workspace in the form of options. The provider has defaults for omitted ones. */
export const workspaceLimits = z.strictObject({
  timeout_ms: z.int().min(100).max(86_400_000).optional().describe("Wall-clock time of a command"),
  cpu_ms: z.int().min(100).max(86_400_000).optional().describe("Processor time of a command, of all its processes"),
  memory_mb: z.int().min(16).max(1_048_576).optional().describe("Resident memory of a command or a shell"),
  processes: z.int().min(4).max(32_768).optional().describe("Of a command or a shell at the same time"),
  file_mb: z.int().min(1).max(1_048_576).optional().describe("One file"),
  disk_mb: z
    .int()
    .min(1)
    .max(1_048_576)
    .optional()
    .describe("All files that were added or changed; they are in memory"),
  output_kb: z.int().min(1).max(65_536).optional().describe("Of stdout and of stderr, each"),
});

/** Converts limits to the units of a workspace: milliseconds and bytes. */
export function workspaceLimitsOf(given: z.output<typeof workspaceLimits>): Partial<WorkspaceLimits> {
  const { timeout_ms, cpu_ms, memory_mb, processes, file_mb, disk_mb, output_kb } = given;
  const limits = {
    timeoutMs: timeout_ms,
    cpuMs: cpu_ms,
    memoryBytes: memory_mb && memory_mb * MEGABYTE,
    processes,
    fileBytes: file_mb && file_mb * MEGABYTE,
    diskBytes: disk_mb && disk_mb * MEGABYTE,
    outputBytes: output_kb && output_kb * 1024,
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
