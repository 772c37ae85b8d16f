import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/spec";
import { parse } from "yaml";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { ROOT, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { evaluationsOf } from "./support/evaluations.ts";

const EXAMPLE = join(ROOT, "examples/games/nim.yaml");
/** Positions that can be won. */
const POSITIONS = 16;

describeWithEngine("self-play learns the theory of nim (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each([0, 1, 2])(
    "examples/games/nim.yaml, seed %i: greedy play is optimal in at least 15 of the 16 positions that can be won",
    async (seed) => {
      const [start, final] = await train("self-play", EXAMPLE, seed);
      expect(start).toBeLessThanOrEqual(POSITIONS / 2);
      expect(final).toBeGreaterThanOrEqual(15);
    },
    600_000,
  );

  test("against its own earlier versions the policy reaches no less", async () => {
    const {
      environments: [environment],
      stages: [stage],
      ...config
    } = parse(readFileSync(EXAMPLE, "utf8")) as Record<"environments" | "stages", readonly [JsonObject]> & JsonObject;
    const past = { every: 10, keep: 4, newest: 0.5 };
    const changed = {
      ...config,
      environments: [
        { ...environment, players: { first: "policy", second: { policy: "policy", past } }, sides: "shuffle" },
      ],
      // Only one side learns, so that a batch has half of the tokens.
      stages: [{ ...stage, steps: 120 }],
      eval: { tasks: POSITIONS, environments: [environment] },
    };
    const [, final] = await train("past versions", writeConfig(output, changed), 0);
    expect(final).toBeGreaterThanOrEqual(15);
  }, 600_000);

  /** Returns the number of positions that are played well greedily, before and after training. */
  async function train(name: string, config: string, seed: number): Promise<readonly number[]> {
    const began = performance.now();
    const args = ["--config", config, "--seed", String(seed), "--output", output];
    const { code, events, stderr } = await run(["train", "--json", ...args]);
    expect([code, stderr]).toEqual([0, expect.anything()]);
    // A position is the first agent's; the other one has no turn in it.
    const won = evaluationsOf(events)
      .filter(({ environment }) => environment === "nim@1/first")
      .map(({ greedy }) => Math.round(greedy * POSITIONS));
    const seconds = (performance.now() - began) / 1000;
    console.info(`nim, ${name}, seed ${seed}: ${won.join(" -> ")} of ${POSITIONS}; ${seconds.toFixed(0)} s`);
    expect(won).toHaveLength(2);
    return won;
  }
});
