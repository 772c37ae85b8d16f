import assert from "node:assert/strict";
import { test } from "node:test";
import { pluginContract, trainBigram } from "@mrlm/testing";
import plugin, { reinforce } from "../dist/index.js";

// The reward rises, equal seeds give equal weights, an interrupted run ends with the same weights, bad options are refused.
pluginContract({ plugins: [plugin] });

test("the baseline follows the rewards", async () => {
  const stages = [{ algorithm: "my-algorithm", steps: 3, baseline_decay: 0, learning_rate: 0.3 }];
  const { reports } = await trainBigram({ algorithms: [reinforce], stages });
  const [first, second] = reports.map(({ metrics }) => metrics);
  assert.ok(first && second);
  // Without a decay the baseline is the mean reward of the iteration before.
  assert.deepEqual(second["reinforce/baseline"], meanOf(first["reward/mean"]));
});

function meanOf(metric: number | { readonly sum: number; readonly count: number } | undefined): number | undefined {
  return typeof metric === "object" ? metric.sum / metric.count : metric;
}
