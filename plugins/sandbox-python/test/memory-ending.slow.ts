import { expect, test } from "@jest/globals";
import { describeKinds } from "./support/kinds.ts";

const limits = { wallMs: 60_000, cpuMs: 20_000, memoryBytes: 64 << 20, outputBytes: 4096 };

describeKinds("the end of a program that keeps the memory it has filled", (sandbox) => {
  // Sizes near each other leave different amounts of memory to the interpreter when the last allocation fails.
  test("is memory-limit for entries of every size, and the next submission is not affected", async () => {
    for (let size = 45; size < 60; size++) {
      const code = `kept = {}\ni = 0\nwhile True:\n    kept[i] = str(i) * ${size}\n    i += 1\n`;
      const { verdict } = await sandbox().run({ code, limits });
      expect([size, verdict]).toEqual([size, "memory-limit"]);
      expect((await sandbox().run({ code: "print('next')" })).stdout).toBe("next\n");
    }
  }, 600_000);
});
