import { beforeAll, describe, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import type { AlgorithmDefinition, JsonObject, ModelId } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { duelEnvironment, recordingEngine, trainBigram } from "@mrlm/testing";
import { opponentDirectory } from "./support/opponent.ts";
import { playFaults, trainedTokens } from "./support/provenance.ts";

let rival: string;
beforeAll(async () => {
  rival = await opponentDirectory();
});

// Each algorithm has options of another type.
// oxlint-disable-next-line typescript/no-explicit-any
const ALGORITHMS: readonly AlgorithmDefinition<any>[] = [grpo, dpo, ppo];

const PAST = { every: 3, keep: 8, newest: 0.5 };

/** Returns the engine's model of a player. */
function modelOf({ kind, policy, version }: PlayedBy): ModelId {
  if (kind === "past") return `past-${policy}-${version}`;
  return kind === "policy" ? "policy" : "frozen-0";
}

/** Trains batches against an opponent, whose sides change. Returns the trained tokens, the faults of played groups, and the models that sampled. */
async function trainAgainst(
  opponent: JsonObject,
  stage: JsonObject,
): Promise<
  ReturnType<typeof trainedTokens> & {
    readonly batches: number;
    readonly faults: readonly string[];
    readonly sampled: ReadonlySet<ModelId>;
  }
> {
  const { engine, asked } = recordingEngine();
  const { reports, played } = await trainBigram({
    algorithms: ALGORITHMS,
    environments: [duelEnvironment({ rounds: 2 })],
    stages: [stage],
    config: {
      environments: [{ id: "duel", players: { first: "policy", second: opponent }, sides: "shuffle" }],
      checkpoint: { every: 0 },
    },
    engine,
  });
  return {
    ...trainedTokens(asked, "policy"),
    batches: reports.length,
    faults: playFaults(played.flat(), asked.samples, modelOf),
    sampled: new Set(asked.samples.map(({ model }) => model)),
  };
}

const BATCHES = [
  ["grpo", { algorithm: "grpo", prompts_per_step: 2, group_size: 2, learning_rate: 0.01 }],
  ["ppo", { algorithm: "ppo", prompts_per_step: 2, learning_rate: 0.01 }],
  ["dpo", { algorithm: "dpo", prompts: 3, group_size: 2, collect_every: 1, batch_size: 2, learning_rate: 0.01 }],
] as const;

describe("batches have no token of an opponent in the engine's units, and each group has one opponent", () => {
  test.each(BATCHES)(
    "1,000 batches of %s against a frozen model",
    async (_algorithm, options) => {
      const { batches, trained, foreign, faults, sampled } = await trainAgainst(
        { model: rival },
        { steps: 1000, ...options },
      );
      expect({ batches, foreign, faults }).toEqual({ batches: 1000, foreign: 0, faults: [] });
      expect(trained).toBeGreaterThan(1000);
      expect(sampled).toEqual(new Set(["policy", "frozen-0"]));
    },
    600_000,
  );

  test.each(BATCHES)(
    "1,000 batches of %s against earlier versions",
    async (_algorithm, options) => {
      const { batches, trained, foreign, faults, sampled } = await trainAgainst(
        { policy: "policy", past: PAST },
        { steps: 1000, ...options },
      );
      expect({ batches, foreign, faults }).toEqual({ batches: 1000, foreign: 0, faults: [] });
      expect(trained).toBeGreaterThan(1000);
      // Every third of 1,000 versions becomes a copy; few of them are drawn for no group.
      expect(sampled.size).toBeGreaterThan(250);
    },
    600_000,
  );
});
