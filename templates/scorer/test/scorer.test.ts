import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentContract, pluginContract } from "@mrlm/testing";
import plugin from "../dist/index.js";
import { numberScorer } from "../dist/scorer.js";

// Grades of the examples of the plugin, any texts, determinism, abort.
pluginContract({ plugins: [plugin] });

environmentContract({ plugins: [plugin], environment: "my-scorer@1" });

const valueOf = async (answer: string, expected: string, tolerance = 0): Promise<number | string> => {
  const { reward } = await numberScorer({ tolerance }).score({ answer, expected });
  return reward.scored ? reward.value : reward.code;
};

test("equal numbers are right in any form, others within the tolerance only", async () => {
  assert.deepEqual(
    await Promise.all([valueOf(" 12.0 ", "12"), valueOf("13", "12"), valueOf("13", "12", 0.1)]),
    [1, 0, 1],
  );
});

test("text earns nothing, and a correct answer that is no number is unscored", async () => {
  for (const text of ["", "twelve", "12 or 13", "1e400", "NaN", "9".repeat(400)])
    assert.equal(await valueOf(text, "12"), 0);
  assert.equal(await valueOf("12", "twelve"), "SCORER_REFERENCE_INVALID");
});
