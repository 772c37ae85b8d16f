import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf } from "./support/evaluations.ts";

describeWithEngine("doctor and patient learn from one dialogue (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test("examples/games/consultation.yaml: the rewards of both roles rise by at least 0.3, of a range of 1, in one run", async () => {
    const began = performance.now();
    const args = ["--config", "examples/games/consultation.yaml", "--seed", "0", "--output", output];
    const { code, events, stderr } = await run(["train", "--json", ...args]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const rewardsOf = (role: string): number[] =>
      evaluationsOf(events)
        .filter(({ environment }) => environment === `consultation@1/${role}`)
        .map(({ sampled }) => sampled);
    const roles = ["doctor", "patient"].map((role) => [role, rewardsOf(role)] as const);
    const shown = roles.map(([role, rewards]) => `${role} ${rewards.map((each) => each.toFixed(2)).join(" -> ")}`);
    console.info(`consultation: ${shown.join(", ")}; ${((performance.now() - began) / 1000).toFixed(0)} s`);
    for (const [, [start, final, ...others]] of roles) {
      expect(others).toEqual([]);
      expect((final as number) - (start as number)).toBeGreaterThanOrEqual(0.3);
    }
  }, 600_000);
});
