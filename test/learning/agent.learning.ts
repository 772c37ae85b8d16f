import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf, type Skill } from "./support/evaluations.ts";

describeWithEngine("agent programs learn (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each([0, 1, 2])(
    "examples/agent, seed %i: greedy accuracy rises from at most 0.2 to at least 0.9 on orders that are not in training",
    async (seed) => {
      const [start, warm, final] = await train("examples/agent/agent.yaml", seed);
      expect(start?.greedy).toBe(0);
      expect(warm?.greedy).toBeLessThanOrEqual(0.2);
      expect(final?.greedy).toBeGreaterThanOrEqual(0.9);
    },
    1_200_000,
  );

  test("examples/agent/team: a planner and a worker learn from the same episodes", async () => {
    const skills = await train("examples/agent/team/team.yaml", 0);
    for (const role of ["planner", "worker"]) {
      const [start, final] = skills.filter(({ environment }) => environment === `team@1/${role}`);
      expect(start?.greedy).toBeLessThanOrEqual(0.2);
      expect(final?.greedy).toBeGreaterThanOrEqual(0.9);
    }
  }, 1_200_000);

  async function train(config: string, seed: number): Promise<readonly Skill[]> {
    const began = performance.now();
    const args = ["train", "--json", "--config", config, "--seed", String(seed), "--output", output];
    const { code, events, stderr } = await run(args);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const skills = evaluationsOf(events);
    const shown = skills.map(
      ({ label, environment, greedy, sampled }) =>
        `${label} ${environment} ${greedy.toFixed(2)} (sampled ${sampled.toFixed(2)})`,
    );
    console.info(`${config} seed ${seed}: ${shown.join(", ")}; ${((performance.now() - began) / 1000).toFixed(0)} s`);
    return skills;
  }
});
