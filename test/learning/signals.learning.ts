import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf } from "./support/evaluations.ts";

describeWithEngine("two policies agree on a code (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();
  const reached: number[] = [];

  test.each([0, 1, 2])(
    "examples/games/signals.yaml, seed %i: sampled rewards rise from chance to at least 0.8",
    async (seed) => {
      const [start, final] = await train(seed, []);
      reached.push(final as number);
      expect(start).toBeLessThanOrEqual(0.3);
      expect(final).toBeGreaterThanOrEqual(0.8);
    },
    600_000,
  );

  test("the mean of the three seeds is at least 0.9: a code in which two meanings share a symbol earns 5/6", () => {
    expect(reached).toHaveLength(3);
    expect(reached.reduce((sum, each) => sum + each, 0) / reached.length).toBeGreaterThanOrEqual(0.9);
  });

  test("mutation, the sender's reward is cut: no code develops", async () => {
    const [, final] = await train(0, ["--set", "environments.0.options.sender_reward=none"]);
    expect(final).toBeLessThanOrEqual(0.3);
  }, 600_000);

  /** Returns the receiver's mean reward of sampled games, before and after training. */
  async function train(seed: number, more: readonly string[]): Promise<readonly number[]> {
    const began = performance.now();
    const args = ["--config", "examples/games/signals.yaml", "--seed", String(seed), "--output", output, ...more];
    const { code, events, stderr } = await run(["train", "--json", ...args]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const found = evaluationsOf(events).filter(({ environment }) => environment === "signals@1/receiver");
    const rewards = found.map(({ sampled }) => sampled);
    const seconds = (performance.now() - began) / 1000;
    console.info(
      `signals seed ${seed} ${more.join(" ")}: ${rewards.map((each) => each.toFixed(2)).join(" -> ")}; ${seconds.toFixed(0)} s`,
    );
    expect(rewards).toHaveLength(2);
    return rewards;
  }
});
