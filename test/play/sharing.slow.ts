import { describe, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import type { JsonObject, TrajectoryGroup } from "@mrlm/spec";
import { type BigramTraining, recordingEngine, trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { trainedTokens } from "./support/provenance.ts";
import { team } from "./support/team-environment.ts";

const STAGES: Readonly<Record<string, JsonObject>> = {
  grpo: { algorithm: "grpo", prompts_per_step: 4, group_size: 8, learning_rate: 0.5 },
  dpo: { algorithm: "dpo", prompts: 2, group_size: 6, collect_every: 1, batch_size: 8, learning_rate: 0.2 },
  ppo: { algorithm: "ppo", prompts_per_step: 4, learning_rate: 0.2, cut_penalty: 0 },
};

const training = (algorithm: string, sharing: JsonObject | undefined, steps = 2): BigramTraining => ({
  algorithms: [grpo, dpo, ppo],
  environments: [team],
  stages: [{ ...STAGES[algorithm], steps }],
  config: {
    environments: [{ id: "team", ...(sharing === undefined ? {} : { reward_sharing: sharing }) }],
  },
});

/** Sum of the lead's rewards over the number of episodes. */
function reward(groups: readonly TrajectoryGroup[]): number {
  const totals = groups.flatMap(({ trajectories }) => trajectories.map(({ agents }) => agents["lead"]?.total));
  return totals.reduce((sum, total) => sum + (total?.scored === true ? total.value : Number.NaN), 0) / totals.length;
}

describe.each(["grpo", "dpo", "ppo"])("%s with helpers that join and share in the lead's reward", (algorithm) => {
  test("learns from the shared reward of each helper, and credits each at its own tokens", async () => {
    const { engine, asked } = recordingEngine();
    const sharing = { helper: { lead: 1 } };
    const { played, reports } = await trainBigram({ ...training(algorithm, sharing), engine });
    const parts = played.flat().flatMap(({ trajectories }) =>
      trajectories.flatMap(({ agents, error }) => {
        expect(error).toBeUndefined();
        const lead = agents["lead"]?.total;
        const helpers = Object.entries(agents).filter(([agent]) => agent !== "lead");
        for (const [, { total, shared, end, segments }] of helpers) {
          expect(total).toEqual({ scored: true, value: 0, components: {} });
          expect(shared).toEqual({ ...lead, components: {}, weights: { lead: 1 } });
          expect([end.terminated, segments.map(({ parent }) => parent)]).toEqual([true, [null]]);
        }
        // Its second conversation starts over.
        expect(agents["lead"]?.segments.map(({ parent }) => parent)).toEqual([null, null]);
        return helpers.map(([agent]) => agent);
      }),
    );
    expect(new Set(parts)).toEqual(new Set(["helper#1", "helper#2", "helper#3"]));
    expect(trainedTokens(asked, "policy")).toMatchObject({ foreign: 0 });
    expect(new Set(reports.flatMap(({ credits = [] }) => credits.map(({ agent }) => agent)))).toContain("helper#1");
  });
});

test("without sharing every helper earns the same, and has no advantage", async () => {
  const { reports } = await trainBigram(training("grpo", undefined, 2));
  const credits = reports.flatMap(({ credits: all = [] }) => all.filter(({ agent }) => agent !== "lead"));
  expect(credits.length).toBeGreaterThan(16);
  expect(new Set(credits.map(({ advantage }) => advantage))).toEqual(new Set([0]));
});

test("a killed run with shared rewards has the bits of the undisturbed one", async () => {
  const given = training("ppo", { helper: { helper: 1, lead: 0.5 }, lead: { lead: 1, helper: 0.5 } }, 3);
  const whole = await trainBigram(given);
  expect((await trainBigramInterrupted(given, 3)).weights).toEqual(whole.weights);
});

test("a policy whose role earns nothing learns from the reward of another policy's role", async () => {
  const random = { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } };
  const { played } = await trainBigram({
    algorithms: [grpo],
    environments: [team],
    stages: [{ learners: { helping: { ...STAGES["grpo"], steps: 8 } } }],
    config: {
      model: undefined,
      policies: { leading: { random }, helping: { random } },
      environments: [
        { id: "team", players: { lead: "leading", helper: "helping" }, reward_sharing: { helper: { lead: 1 } } },
      ],
    } as never,
  });
  expect(reward(played.at(-1) ?? [])).toBeGreaterThan(reward(played[0] ?? []) + 0.1);
});
