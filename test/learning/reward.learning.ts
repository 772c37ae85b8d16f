import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { definePlugin, generatedTasks, messageText, randomStream, singleTurn, textMessage } from "@mrlm/kit";
import { scoredTurns } from "@mrlm/kit/learning";
import { grpo } from "@mrlm/grpo";
import { reward } from "@mrlm/reward";
import rewardModel from "@mrlm/reward-model";
import { LocalHost, PluginHost, RewardModels } from "@mrlm/runtime";
import type { TrajectoryGroup } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { localEnvironment } from "../e2e/support/local-environment.ts";
import { startEngine, temporaryDirectory } from "../e2e/support/real-engine.ts";
import { letters, runStage, tinyConfig, tokenizerFiles } from "../e2e/support/stage.ts";

/** Exact reward: the share of the letter "a" in an answer. */
const shareOfA = (text: string): number => (text.match(/a/g) ?? []).length / Math.max(1, text.length);

const ALPHABET = "aaabcd0123";
const random = randomStream("reward/answers", 1);
const answers = Array.from({ length: 3_000 }, () =>
  Array.from({ length: random.integer(1, 8) }, () => ALPHABET[random.integer(0, ALPHABET.length - 1)]).join(""),
);

/** Pairs of answers to one prompt with different rewards. */
const pairs = answers.flatMap((one, i) => {
  const other = answers[(i + 1) % answers.length] as string;
  const [chosen, rejected] = shareOfA(one) > shareOfA(other) ? [one, other] : [other, one];
  return shareOfA(chosen) === shareOfA(rejected) ? [] : [{ prompt: String(i % 10), chosen, rejected }];
});
const [heldout, learnt] = [pairs.slice(0, 400), pairs.slice(400)];

/** Asks whatever scorer stands behind the id. */
const scored = singleTurn({
  id: "scored-letters@1",
  description: "Asks for letters, and pays what a scorer gives.",
  requires: ["scorer:reward-model@1"],
  tasks: () =>
    generatedTasks({
      seed: 1,
      splits: { train: { size: 64, share: 3 }, eval: { size: 8, share: 1 } },
      generate: (random) => {
        const shown = random.integer(0, 99_999);
        return { public: { digit: String(shown % 10) }, private: {}, key: String(shown) };
      },
    }),
  prompt: ({ digit }) => digit,
  score: async (answer, task, { context, signal }) => {
    return (await context.scorer("reward-model@1").score({ question: task.public.digit, answer, expected: "", signal }))
      .reward;
  },
});

describeWithEngine(
  "a tiny reward model of pairs with exact rewards (0.03M parameters; skipped where `npm run setup` has not run)",
  () => {
    const directory = join(temporaryDirectory(), "reward");
    let engine: Engine;
    let stop: () => Promise<void>;

    beforeAll(async () => {
      ({ engine, stop } = await startEngine());
      const source = { kind: "random", config: tinyConfig, seed: 3, tokenizerFiles } as const;
      for (const model of ["scores", "policy"])
        await engine.createModel({
          ...{ model, role: "policy", source, trainable: true, dtype: "float32" },
          valueHead: model === "scores",
        });
    }, 120_000);
    afterAll(() => stop());

    test("agrees with the exact rewards on at least 0.9 of the held-out pairs", async () => {
      const place = { engine, policy: "scores", renderer: letters, rows: learnt, ...(await localEnvironment()) };
      await runStage(place, reward, { data: "rows", steps: 150, batch_size: 64, learning_rate: 3e-3 });
      const units = heldout.flatMap(({ prompt, chosen, rejected }) =>
        [chosen, rejected].map((answer) => ({
          sequences: scoredTurns(letters.supervise([textMessage("user", prompt), textMessage("assistant", answer)])),
        })),
      );
      const outputs = await engine.forward({ model: "scores", units, outputs: { value: true } });
      const score = (i: number): number => outputs[i]?.value?.[0] as number;
      const right = heldout.filter((_, i) => score(2 * i) > score(2 * i + 1)).length;
      console.info(`reward model: ${right} of ${heldout.length} held-out pairs`);
      expect(right / heldout.length).toBeGreaterThanOrEqual(0.9);
      await engine.export("scores", directory);
    }, 600_000);

    test("GRPO against its scores, in this process' engine, improves the exact reward", async () => {
      const plugins = await PluginHost.of([definePlugin({ name: "scored", environments: [scored] }), rewardModel], {
        plugins: { "@mrlm/reward-model": { model: directory } },
      });
      plugins.useRewardModels(new RewardModels(async () => ({ engine, close: async () => undefined })));
      const host = new LocalHost({ source: plugins });
      const place = { engine, policy: "policy", host, environment: { id: "scored-letters@1" }, renderer: letters };
      const options = { steps: 40, prompts_per_step: 8, group_size: 8, learning_rate: 3e-3 };
      const reports = await runStage({ ...place, sampling: { temperature: 1, maxTokens: 8 } }, grpo, options);
      const exact = reports.map(({ played }) => meanExact(played));
      console.info(`exact reward: ${exact.map((value) => value.toFixed(2)).join(" ")}`);
      expect((await engine.describe()).models.filter(({ role }) => role === "reward")).toHaveLength(1);
      expect(exact.slice(-5).reduce((sum, value) => sum + value / 5, 0)).toBeGreaterThan((exact[0] as number) + 0.4);
      await host.close();
    }, 600_000);
  },
);

/** Returns the mean exact reward of the answers of a batch. */
function meanExact(played: readonly TrajectoryGroup[]): number {
  const texts = played.flatMap(({ trajectories }) =>
    trajectories.flatMap(({ turns }) => turns.map(({ response }) => messageText(response))),
  );
  return texts.reduce((sum, text) => sum + shareOfA(text), 0) / texts.length;
}
