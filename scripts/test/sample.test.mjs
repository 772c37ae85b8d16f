import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { root } from "../lib/repository.mjs";
import { chooseSample } from "../lib/sample.mjs";

test("a sample names files that are there, stays within its budget, and is another one for another seed", () => {
  const samples = Array.from({ length: 20 }, (_, seed) => chooseSample(seed));
  for (const parts of samples) {
    for (const [, chosen] of Map.groupBy(parts, ({ suite }) => suite))
      expect(chosen.reduce((sum, { cpu }) => sum + cpu, 0)).toBeLessThanOrEqual(60);
  }
  const files = new Set(samples.flat().map(({ file }) => file));
  expect([...files].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  expect(chooseSample(3)).toEqual(samples[3]);
  expect(new Set(samples.map((parts) => JSON.stringify(parts))).size).toBeGreaterThan(10);
});
