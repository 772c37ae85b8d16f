/** Calculator for policies: the toolset `calculator@1`. */
import { definePlugin } from "@mrlm/kit";
import { z } from "zod";
import { CalculatorToolset } from "./calculator-toolset.ts";

const options = z
  .strictObject({
    workers: z.int().min(1).max(64).default(2).describe("Worker processes: expressions evaluated at the same time"),
    timeout_ms: z.int().min(50).max(30_000).default(1_000).describe("Processor time of one expression"),
    memory_mb: z.int().min(64).max(4_096).default(128).describe("Heap of a worker"),
    output_bytes: z.int().min(1_024).max(1_048_576).default(16_384).describe("UTF-8 bytes of a result"),
  })
  .prefault({});

export default definePlugin({
  name: "@mrlm/tool-calculator",
  options,
  tools: {
    "calculator@1": (_context, { workers, timeout_ms, memory_mb, output_bytes }) =>
      new CalculatorToolset({ workers, timeoutMs: timeout_ms, memoryMb: memory_mb, outputBytes: output_bytes }),
  },
  examples: { tools: { "calculator@1": { calls: [{ tool: "calculator", args: { expression: "2 + 3" } }] } } },
});
