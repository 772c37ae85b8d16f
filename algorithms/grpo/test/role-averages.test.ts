import { describe, expect, test } from "@jest/globals";
import { groupAdvantages } from "../src/advantages.ts";
import { RoleAverages } from "../src/role-averages.ts";

describe("role averages", () => {
  test("are 0 before the first batch, then averages of the batches' means, weighted by age", () => {
    const averages = new RoleAverages(0.5);
    expect(averages.of("nim@1/first")).toBe(0);
    averages.update([
      { key: "nim@1/first", rewards: [1, 1, -1] },
      { key: "nim@1/first", rewards: [1] },
      { key: "nim@1/second", rewards: [-1, -1, 1, -1] },
    ]);
    // One batch: its mean, whatever the decay.
    expect([averages.of("nim@1/first"), averages.of("nim@1/second")]).toEqual([0.5, -0.5]);
    averages.update([{ key: "nim@1/first", rewards: [-1, -1] }]);
    // (0.25 · 0.5 + 0.5 · -1) / 0.75
    expect(averages.of("nim@1/first")).toBeCloseTo(-0.5, 12);
    expect(averages.of("nim@1/second")).toBe(-0.5);
    expect(averages.of("other@1/first")).toBe(0);
  });

  test("stay as they are where no episode of the role can be used", () => {
    const averages = new RoleAverages(0.9);
    averages.update([{ key: "a", rewards: [3] }]);
    averages.update([{ key: "a", rewards: [] }]);
    expect(averages.of("a")).toBe(3);
  });

  test("are the same after a state", () => {
    const averages = new RoleAverages(0.9);
    averages.update([{ key: "a", rewards: [1, 0.3] }]);
    averages.update([{ key: "a", rewards: [0.7] }]);
    const restored = new RoleAverages(0.9);
    restored.restore(JSON.parse(JSON.stringify(averages.state())));
    for (const each of [averages, restored]) each.update([{ key: "a", rewards: [-2] }]);
    expect(restored.of("a")).toBe(averages.of("a"));
  });

  test("are the baselines of groups of one", () => {
    expect(groupAdvantages([[1], [-1], [1]], "role_average", "none", [0.5, -0.25, 0])).toEqual([[0.5], [-0.75], [1]]);
    const [[one], [other]] = groupAdvantages([[1], [-1]], "role_average", "batch_std", [0, 0]) as [[number], [number]];
    expect(one).toBeCloseTo(1 / (Math.SQRT2 + 1e-4), 12);
    expect(other).toBe(-one);
  });
});
