import { defined, type SandboxLimits } from "@mrlm/spec";
import { z } from "zod";

/** Limits of a submission in the form of options. The sandbox has defaults for omitted ones. */
export const sandboxLimits = z.strictObject({
  wall_ms: z.int().min(50).max(120_000).optional().describe("Wall-clock time, of all tests together"),
  cpu_ms: z.int().min(50).max(120_000).optional().describe("Processor time"),
  memory_mb: z.int().min(8).max(16_384).optional().describe("By how much the interpreter may grow"),
  output_kb: z.int().min(1).max(65_536).optional().describe("Of stdout and of stderr, each"),
});

/** Options of every plugin with a sandbox, to spread into its schema. */
export const sandboxOptions = {
  children: z.int().positive().default(2).describe("Submissions that run at the same time"),
  queue: z.int().nonnegative().default(1024).describe("Submissions that may wait"),
  sessions: z.int().positive().default(16).describe("Sessions that may be open at the same time"),
  session_queue: z.int().nonnegative().default(256).describe("Calls that may wait for a session"),
  session_wait_ms: z.int().positive().default(60_000).describe("Longest wait for a session"),
  limits: sandboxLimits.prefault({}).describe("Of a submission that brings none"),
};

/** Converts limits to the units of a sandbox: milliseconds and bytes. */
export function limitsOf({
  wall_ms,
  cpu_ms,
  memory_mb,
  output_kb,
}: z.output<typeof sandboxLimits>): Partial<SandboxLimits> {
  return {
    ...defined({ wallMs: wall_ms, cpuMs: cpu_ms }),
    ...(memory_mb === undefined ? {} : { memoryBytes: memory_mb * 2 ** 20 }),
    ...(output_kb === undefined ? {} : { outputBytes: output_kb * 2 ** 10 }),
  };
}
