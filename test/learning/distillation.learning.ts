import { beforeAll, expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { type Event, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory, writeConfig } from "../e2e/support/tiny-run.ts";
import { evaluationsOf, type Skill } from "./support/evaluations.ts";
import { example } from "./support/ordering.ts";

const SFT = { algorithm: "sft@1", batch_size: 128, learning_rate: 1e-3 };
const DISTIL = {
  algorithm: "grpo@1",
  steps: 40,
  prompts_per_step: 512,
  group_size: 1,
  distill_coefficient: 1,
  reward_coefficient: 0,
  learning_rate: 1e-3,
  lr_schedule: "linear",
};

describeWithEngine(
  "on-policy distillation without rewards: the policy comes closer to its teacher and sorts more tasks (skipped where `npm run setup` has not run)",
  () => {
    const output = temporaryDirectory();
    const config = example("math/grpo.yaml");
    let teacher = "";

    async function train(name: string, seed: number, stages: readonly object[]): Promise<readonly Event[]> {
      const path = writeConfig(output, { ...config, name, stages, checkpoint: { every: 0 } }, `${name}-${seed}.yaml`);
      const options = ["--seed", String(seed), "--output", output];
      const { code, events, stderr } = await run(["train", "--json", "--config", path, ...options]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      return events;
    }

    beforeAll(async () => {
      const events = await train("teacher", 0, [{ ...SFT, steps: 200, until: { accuracy: 0.9, every: 10 } }]);
      teacher = String(events.find(({ event }) => event === "start")?.["directory"]);
      console.info(`teacher: ${shown(evaluationsOf(events).at(-1) as Skill)}`);
    }, 900_000);

    test.each([1, 2, 3])(
      "seed %i",
      async (seed) => {
        const events = await train("student", seed, [
          { ...SFT, steps: 60 },
          { ...DISTIL, reference_model: { path: teacher } },
        ]);
        const [, before, after] = evaluationsOf(events) as [Skill, Skill, Skill];
        const divergences = events.flatMap(divergenceOf);
        const [first, last] = [meanOf(divergences.slice(0, 5)), meanOf(divergences.slice(-5))];
        console.info(
          `seed ${seed}: divergence ${first.toFixed(3)} -> ${last.toFixed(3)} nats a token, ${shown(before)} -> ${shown(after)}`,
        );
        expect(last).toBeLessThan(0.5 * first);
        expect(after.sampled).toBeGreaterThan(before.sampled + 0.08);
      },
      900_000,
    );
  },
);

const shown = ({ greedy, sampled }: Skill): string => `greedy ${greedy.toFixed(3)}, sampled ${sampled.toFixed(3)}`;
const meanOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

function divergenceOf({ event, metrics }: Event): number[] {
  const found = event === "iteration" ? (metrics as Readonly<Record<string, number>>)["distill/kl"] : undefined;
  return found === undefined ? [] : [found];
}
