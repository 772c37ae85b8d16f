import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { limitsOf, sandboxLimits, sandboxOptions } from "../src/sandbox-options.ts";

describe("the options of sandboxes", () => {
  test("limits in the units of their names become milliseconds and bytes", () => {
    expect(limitsOf(sandboxLimits.parse({ wall_ms: 1500, cpu_ms: 900, memory_mb: 64, output_kb: 2 }))).toEqual({
      wallMs: 1500,
      cpuMs: 900,
      memoryBytes: 67_108_864,
      outputBytes: 2048,
    });
  });

  test("what is left out stays the sandbox's own", () => {
    const { limits, ...pool } = z.strictObject(sandboxOptions).parse({ limits: { cpu_ms: 50 } });
    expect(limitsOf(limits)).toEqual({ cpuMs: 50 });
    expect(pool).toEqual({ children: 2, queue: 1024, sessions: 16, session_queue: 256, session_wait_ms: 60_000 });
  });

  test.each([{ wallMs: 5000 }, { wall_ms: 10 }, { memory_mb: 0.5 }])("%j is refused", (limits) => {
    expect(sandboxLimits.safeParse(limits).success).toBe(false);
  });
});
