import { toolsetContract } from "@mrlm/testing";
import { CalculatorToolset } from "../src/calculator-toolset.ts";

toolsetContract({
  name: "tool-calculator",
  make: () => new CalculatorToolset({ workers: 2, timeoutMs: 1_000, memoryMb: 128, outputBytes: 16_384 }),
  calls: [{ tool: "calculator", args: { expression: "2 + 3" } }],
});
