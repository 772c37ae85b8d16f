import type { SandboxLimits } from "@mrlm/spec";
import type { CodeOptions } from "../options.ts";

/** The limits of the options, in the sandbox's units. */
export function limitsOf({ wall_ms, cpu_ms, memory_mb, output_kb }: CodeOptions["limits"]): Partial<SandboxLimits> {
  return {
    ...(wall_ms === undefined ? {} : { wallMs: wall_ms }),
    ...(cpu_ms === undefined ? {} : { cpuMs: cpu_ms }),
    ...(memory_mb === undefined ? {} : { memoryBytes: memory_mb * 2 ** 20 }),
    ...(output_kb === undefined ? {} : { outputBytes: output_kb * 2 ** 10 }),
  };
}
