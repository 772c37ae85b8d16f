import { beforeAll, describe, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import type { AlgorithmDefinition, JsonObject } from "@mrlm/spec";
import { duelEnvironment, recordingEngine, trainBigram } from "@mrlm/testing";
import { opponentDirectory } from "./support/opponent.ts";
import { trainedTokens } from "./support/provenance.ts";

let rival: string;
beforeAll(async () => {
  rival = await opponentDirectory();
});

// Each algorithm has options of another type.
// oxlint-disable-next-line typescript/no-explicit-any
const ALGORITHMS: readonly AlgorithmDefinition<any>[] = [grpo, dpo, ppo];

/** Trains batches against a frozen opponent, whose sides change, and returns the trained tokens. */
async function trainAgainst(
  stage: JsonObject,
): Promise<ReturnType<typeof trainedTokens> & { readonly batches: number }> {
  const { engine, asked } = recordingEngine();
  const { reports } = await trainBigram({
    algorithms: ALGORITHMS,
    environments: [duelEnvironment({ rounds: 2 })],
    stages: [stage],
    config: {
      environments: [{ id: "duel", players: { first: "policy", second: { model: rival } }, sides: "shuffle" }],
      checkpoint: { every: 0 },
    },
    engine,
  });
  expect(new Set(asked.samples.map(({ model }) => model))).toEqual(new Set(["policy", "frozen-0"]));
  return { ...trainedTokens(asked, "policy"), batches: reports.length };
}

describe("batches against a frozen opponent have no token of the opponent in the engine's units", () => {
  test.each([
    ["1,000 batches of grpo", 1000, { algorithm: "grpo", prompts_per_step: 2, group_size: 2, learning_rate: 0.01 }],
    ["1,000 batches of ppo", 1000, { algorithm: "ppo", prompts_per_step: 2, learning_rate: 0.01 }],
    [
      "1,000 batches of dpo",
      1000,
      { algorithm: "dpo", prompts: 3, group_size: 2, collect_every: 1, batch_size: 2, learning_rate: 0.01 },
    ],
  ])(
    "%s",
    async (_title, steps, options) => {
      const { batches, trained, foreign } = await trainAgainst({ steps, ...options });
      expect({ batches, foreign }).toEqual({ batches: steps, foreign: 0 });
      expect(trained).toBeGreaterThan(steps);
    },
    600_000,
  );
});
