import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/spec";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { evaluationsOf } from "./support/evaluations.ts";

describeWithEngine("credit by turn learns what noise hides (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each([0, 1, 2])(
    "a world of three turns, seed %i: credit by turn is right in at least 0.9 of sampled answers, the reward of the episode in at most 0.5",
    async (seed) => {
      const [start, episode] = await train(seed, {});
      const [, turn] = await train(seed, { credit: "turn", gamma: 0 });
      expect(start).toBeLessThanOrEqual(0.25);
      expect(episode).toBeLessThanOrEqual(0.5);
      expect(turn).toBeGreaterThanOrEqual(0.9);
    },
    480_000,
  );

  test("by state, too: turns are compared with those of the same symbol", async () => {
    const [, state] = await train(0, { credit: "state", gamma: 0 });
    expect(state).toBeGreaterThanOrEqual(0.9);
  }, 240_000);

  test("without a discount the noise hides the first turn, and the last one is learnt", async () => {
    const [, undiscounted] = await train(0, { credit: "turn" });
    expect(undiscounted).toBeGreaterThanOrEqual(0.5);
    expect(undiscounted).toBeLessThanOrEqual(0.8);
  }, 240_000);

  /** Returns the share of right answers on tasks that are not in training, before and after training. */
  async function train(seed: number, options: JsonObject): Promise<readonly number[]> {
    const began = performance.now();
    const config = writeConfig(output, configOf(options), `credit-${seed}.yaml`);
    const { code, events, stderr } = await run([
      "train",
      "--json",
      "--config",
      config,
      "--seed",
      String(seed),
      "--output",
      output,
    ]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const shares = evaluationsOf(events).map(({ sampled }) => sampled);
    const seconds = (performance.now() - began) / 1000;
    console.info(
      `credit ${JSON.stringify(options)}, seed ${seed}: ${shares.map((each) => each.toFixed(2)).join(" -> ")}; ${seconds.toFixed(0)} s`,
    );
    expect(shares).toHaveLength(2);
    return shares;
  }
});

function configOf(options: JsonObject): JsonObject {
  return {
    name: "credit",
    model: {
      random: {
        config: {
          model_type: "qwen2",
          hidden_size: 128,
          intermediate_size: 384,
          num_hidden_layers: 1,
          num_attention_heads: 4,
          num_key_value_heads: 4,
          max_position_embeddings: 64,
          initializer_range: 0.1,
          tie_word_embeddings: true,
        },
        tokenizer: { characters: { alphabet: "01234567-", tags: [] } },
      },
    },
    plugins: { [join(import.meta.dirname, "support/credit-world/")]: true },
    environments: [{ id: "credit-world" }],
    sampling: { max_tokens: 1 },
    stages: [
      {
        algorithm: "grpo",
        steps: 120,
        prompts_per_step: 16,
        group_size: 16,
        learning_rate: 1e-3,
        entropy_coefficient: 0.02,
        ...options,
      },
    ],
    eval: { tasks: 64, samples: 4 },
    checkpoint: { every: 0 },
    server: { spawn: true },
  };
}
