import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/spec";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { evaluationsOf } from "./support/evaluations.ts";

describeWithEngine("credit by turn learns what luck hides (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each([0, 1, 2])(
    "a world of three turns, seed %i: with credit by turn at least 0.9 of sampled answers are right, with the reward of the episode at most 0.5",
    async (seed) => {
      const [start, episode] = await train(seed, {});
      const [, turn] = await train(seed, { credit: "state", gamma: 0 });
      expect(start).toBeLessThanOrEqual(0.25);
      expect(episode).toBeLessThanOrEqual(0.5);
      expect(turn).toBeGreaterThanOrEqual(0.9);
    },
    960_000,
  );

  test.each([0, 1, 2])(
    "a deal and three turns with one reward at their end, seed %i: with credit by branches at least 0.9 of sampled answers are right, with the reward of the episode and as many tokens at most 0.5",
    async (seed) => {
      const environment = { id: "deal-world", players: { dealer: { scripted: "random" }, agent: "policy" } };
      // 3 tokens of an episode, and 2 (3 + 2 + 1) of its branches.
      const [start, branch] = await train(seed, { credit: "branch", branches: 2, group_size: 8 }, environment);
      const [, episode] = await train(seed, { group_size: 8 * 5 }, environment);
      expect(start).toBeLessThanOrEqual(0.25);
      expect(episode).toBeLessThanOrEqual(0.5);
      expect(branch).toBeGreaterThanOrEqual(0.9);
    },
    960_000,
  );

  /** Returns the share of right answers on tasks that are not in training, before and after training. */
  async function train(
    seed: number,
    options: JsonObject,
    environment: JsonObject = { id: "credit-world" },
  ): Promise<readonly number[]> {
    const began = performance.now();
    const config = writeConfig(output, configOf(options, environment), `credit-${seed}.yaml`);
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

function configOf(options: JsonObject, environment: JsonObject): JsonObject {
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
          initializer_range: 0.05,
          tie_word_embeddings: true,
        },
        tokenizer: { characters: { alphabet: "0123", tags: [] } },
      },
    },
    plugins: { [join(import.meta.dirname, `support/${String(environment["id"])}/`)]: true },
    environments: [environment],
    sampling: { max_tokens: 1 },
    stages: [
      {
        algorithm: "grpo",
        steps: 40,
        prompts_per_step: 16,
        group_size: 16,
        learning_rate: 2e-3,
        entropy_coefficient: 0.05,
        ...options,
      },
    ],
    eval: { tasks: 64, samples: 2 },
    checkpoint: { every: 0 },
  };
}
