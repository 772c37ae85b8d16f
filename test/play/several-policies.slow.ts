import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import type { JsonObject } from "@mrlm/spec";
import {
  type BigramOutcome,
  type BigramTraining,
  duelEnvironment,
  recordingEngine,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";
import { trainedTokens } from "./support/provenance.ts";

const GRPO = { algorithm: "grpo", steps: 3, prompts_per_step: 4, group_size: 4, learning_rate: 0.2 };
const PPO = { ...GRPO, algorithm: "ppo", critic: "separate", kl_coefficient: 0.1 };
const random = (seed: number): JsonObject => ({
  random: {
    config: { initializer_range: 0.5 },
    tokenizer: { characters: { alphabet: seed === 1 ? "abcd0123456789" : "9876543210dcba" } },
    seed,
  },
});

const training = (stage: JsonObject, config: JsonObject = {}): BigramTraining => ({
  algorithms: [grpo, dpo, ppo],
  environments: [duelEnvironment({ rounds: 2 })],
  stages: [stage],
  config: {
    model: undefined as never,
    policies: { alice: random(1), bob: random(2) },
    environments: [{ id: "duel", players: { first: "alice", second: "bob" } }],
    ...config,
  },
});

const BOTH: JsonObject = { learners: { alice: GRPO, bob: GRPO } };

const weightsOf = ({ summary }: BigramOutcome, policy: string): Buffer =>
  readFileSync(join(summary.directory, "models", policy, "weights.bin"));

describe("two policies and two learners", () => {
  test("each learns from its own tokens of one play, and has its own metrics, tokenizer and model", async () => {
    const { engine, asked } = recordingEngine();
    const outcome = await trainBigram({ ...training(BOTH), engine });
    for (const policy of ["alice", "bob"]) {
      const { trained, foreign } = trainedTokens(asked, policy);
      expect([policy, foreign, trained > 0]).toEqual([policy, 0, true]);
      expect(existsSync(join(outcome.summary.directory, "tokenizers", policy))).toBe(true);
    }
    expect(weightsOf(outcome, "alice").equals(weightsOf(outcome, "bob"))).toBe(false);
    const names = Object.keys(outcome.reports[0]?.metrics ?? {});
    expect(names).toEqual(expect.arrayContaining(["alice/reward/mean", "bob/reward/mean"]));
    // One play of 4 groups of 4 episodes for both.
    expect(outcome.played.map((groups) => groups.flatMap(({ trajectories }) => trajectories).length)).toEqual([
      16, 16, 16,
    ]);
    expect(outcome.played[0]?.[0]?.players).toMatchObject({
      first: { kind: "policy", policy: "alice" },
      second: { kind: "policy", policy: "bob" },
    });
  });

  test.each([2, 3, 4, 6])("killed at optimizer step %i and resumed, both have the same weights", async (dieAt) => {
    const whole = await trainBigram(training(BOTH));
    const resumed = await trainBigramInterrupted(training(BOTH), dieAt);
    expect(resumed.weights.equals(whole.weights)).toBe(true);
  });

  test("algorithms may differ; each has a critic and a reference of its own", async () => {
    const { engine, asked } = recordingEngine();
    const outcome = await trainBigram({ ...training({ learners: { alice: GRPO, bob: PPO } }), engine });
    expect(new Set(asked.passes.map(({ model }) => model))).toEqual(new Set(["alice", "bob", "critic-bob"]));
    expect(trainedTokens(asked, "bob").foreign).toBe(0);
    const resumed = await trainBigramInterrupted(training({ learners: { alice: GRPO, bob: PPO } }), 5);
    expect(resumed.weights.equals(outcome.weights)).toBe(true);
    await trainBigram(training({ learners: { alice: { ...PPO, steps: 1 }, bob: { ...PPO, steps: 1 } } }));
  });

  test("a policy without a learner keeps its weights bit for bit, and the other learns against it", async () => {
    const faster = await trainBigram(training({ learners: { alice: { ...GRPO, learning_rate: 0.5 } } }));
    const outcome = await trainBigram(training({ learners: { alice: GRPO } }));
    expect(weightsOf(outcome, "bob").equals(weightsOf(faster, "bob"))).toBe(true);
    expect(weightsOf(outcome, "alice").equals(weightsOf(faster, "alice"))).toBe(false);
    expect(weightsOf(outcome, "bob").equals(weightsOf(await trainBigram(training(BOTH)), "bob"))).toBe(false);
    expect(Object.keys(outcome.reports[0]?.metrics ?? {})).toContain("reward/mean");
  });

  test("a policy has its own sampling, which a learner may change in its stage", async () => {
    const policies = { alice: random(1), bob: { ...random(2), sampling: { max_tokens: 3 } } };
    const longest = async (stage: JsonObject): Promise<Record<string, number>> => {
      const { engine, asked } = recordingEngine();
      await trainBigram({ ...training(stage, { policies }), engine });
      const lengths = Map.groupBy(asked.samples, ({ model }) => model);
      return Object.fromEntries(
        [...lengths].map(([model, samples]) => [
          model,
          Math.max(...samples.map(({ tokens, start }) => tokens.length - start)),
        ]),
      );
    };
    expect(await longest(BOTH)).toEqual({ alice: 8, bob: 3 });
    const own = { learners: { alice: GRPO, bob: { ...GRPO, sampling: { max_tokens: 5 } } } };
    expect(await longest(own)).toEqual({ alice: 8, bob: 5 });
  });
});

describe("refused before any work, with the line", () => {
  const refused = async (stage: JsonObject, config: JsonObject = {}): Promise<string> =>
    trainBigram(training(stage, config)).then(
      () => "",
      (error: Error) => error.message,
    );

  test.each<[string, JsonObject, RegExp]>([
    [
      "other groups",
      { learners: { alice: GRPO, bob: { ...GRPO, prompts_per_step: 8 } } },
      /learn from one play: bob has groups 8, alice groups 4/,
    ],
    [
      "other group sizes and iterations",
      { learners: { alice: GRPO, bob: { ...GRPO, group_size: 2, steps: 5 } } },
      /bob has iterations 5, group_size 2, alice iterations 3, group_size 4/,
    ],
    [
      "a learner that chooses groups",
      { learners: { alice: GRPO, bob: { ...GRPO, dynamic_sampling: 2 } } },
      /grpo@1 chooses among the groups of a play/,
    ],
    ["an unknown policy", { learners: { alise: GRPO } }, /there is no policy "alise"\. Did you mean "alice"\?/],
    ["no learners", { learners: {} }, /`learners` has no entry/],
    ["an algorithm beside learners", { ...BOTH, algorithm: "grpo" }, /"algorithm" is of one learner/],
    ["a bare algorithm", GRPO, /name the one that learns, `learners: \{ alice: \{ algorithm: grpo \} \}`/],
  ])("%s", async (_, stage, message) => {
    expect(await refused(stage)).toMatch(message);
    expect(await refused(stage)).toMatch(/run\.yaml:\d+:\d+/);
  });

  test("a learner whose policy plays no role", async () => {
    const players = { first: "alice", second: { policy: "bob", past: { every: 2 } } };
    expect(await refused(BOTH, { environments: [{ id: "duel", players }] })).toMatch(
      /run\.yaml:\d+:\d+: grpo@1 trains the policy "bob", which plays no role/,
    );
  });

  test("a role without a player, and environments without players", async () => {
    const only = { environments: [{ id: "duel", players: { first: "alice" } }] };
    expect(await refused(BOTH, only)).toMatch(/the role "second" of duel@1 has no player/);
    expect(await refused(BOTH, { environments: [{ id: "duel" }] })).toMatch(
      /state under `players` which one plays each role/,
    );
  });
});
