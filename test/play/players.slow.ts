import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { ppo } from "@mrlm/ppo";
import { openRun } from "@mrlm/runtime";
import type { JsonObject } from "@mrlm/spec";
import type { Engine, MemoryEstimate, MemoryWorkload } from "@mrlm/spec/host";
import {
  BigramEngine,
  type BigramOutcome,
  type BigramTraining,
  duelEnvironment,
  recordingEngine,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";
import { opponentDirectory, RIVAL_TOKENIZER } from "./support/opponent.ts";
import { trainedTokens } from "./support/provenance.ts";

let rival: string;
beforeAll(async () => {
  rival = await opponentDirectory();
});

const STAGES: Readonly<Record<string, JsonObject>> = {
  grpo: { algorithm: "grpo", steps: 2, prompts_per_step: 4, group_size: 4, learning_rate: 0.2 },
  dpo: { algorithm: "dpo", steps: 2, prompts: 6, group_size: 4, collect_every: 1, batch_size: 4, learning_rate: 0.2 },
  ppo: { algorithm: "ppo", steps: 2, prompts_per_step: 4, learning_rate: 0.2 },
};

const training = (players: JsonObject | undefined, stage: string, config: JsonObject = {}): BigramTraining => ({
  algorithms: [grpo, dpo, ppo],
  environments: [duelEnvironment({ rounds: 2 })],
  stages: [STAGES[stage] as JsonObject],
  config: { environments: [{ id: "duel", ...(players === undefined ? {} : { players }) }], ...config },
});

const rewardNames = ({ reports }: BigramOutcome): string[] =>
  Object.keys(reports[0]?.metrics ?? {})
    .filter((name) => name.startsWith("reward/"))
    .sort();

describe.each(["grpo", "dpo", "ppo"])("%s in a game of two roles", (algorithm) => {
  test("one policy in both roles: both are learnt from, and each has its own reward metrics", async () => {
    const { engine, asked } = recordingEngine();
    const outcome = await trainBigram({ ...training(undefined, algorithm), engine });
    expect(trainedTokens(asked, "policy")).toEqual({ trained: expect.any(Number), foreign: 0 });
    expect(trainedTokens(asked, "policy").trained).toBeGreaterThan(0);
    expect(rewardNames(outcome)).toEqual([
      "reward/first/mean",
      "reward/first/share",
      "reward/first/std",
      "reward/second/mean",
      "reward/second/share",
      "reward/second/std",
    ]);
  });

  test("mutation, training on a frozen opponent's tokens: none of them is in a pass, and metrics are of the policy alone", async () => {
    const { engine, asked } = recordingEngine();
    const outcome = await trainBigram({
      ...training({ first: "policy", second: { model: rival } }, algorithm),
      engine,
    });
    const { trained, foreign } = trainedTokens(asked, "policy");
    expect(foreign).toBe(0);
    expect(trained).toBeGreaterThan(0);
    expect(new Set(asked.samples.map(({ model }) => model))).toEqual(new Set(["policy", "frozen-0"]));
    expect(new Set(asked.passes.map(({ model }) => model)).has("frozen-0")).toBe(false);
    expect(rewardNames(outcome)).toEqual(["reward/mean", "reward/share", "reward/std"]);
  });

  test("a script as the opponent has no tokens, and the policy learns against it", async () => {
    const { engine, asked } = recordingEngine();
    const players = { second: { scripted: "fixed", options: { text: "aab" } } };
    const outcome = await trainBigram({ ...training(players, algorithm), engine });
    expect(trainedTokens(asked, "policy")).toMatchObject({ foreign: 0 });
    expect(new Set(asked.samples.map(({ model }) => model))).toEqual(new Set(["policy"]));
    expect(rewardNames(outcome)).toEqual(["reward/mean", "reward/share", "reward/std"]);
  });
});

test("the checker counts the tokens of an opponent that a faulty algorithm trains on", async () => {
  const { engine, asked } = recordingEngine();
  await trainBigram({ ...training({ second: { model: rival } }, "grpo"), engine });
  const ofRival = asked.samples.filter(({ model }) => model === "frozen-0").slice(0, 2);
  const units = ofRival.map(({ tokens, start }) => ({
    sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, t) => Number(t >= start)) }],
  }));
  const pass = { ...(asked.passes[0] as (typeof asked.passes)[number]), units };
  const sampled = ofRival.reduce((sum, { tokens, start }) => sum + tokens.length - start, 0);
  expect(trainedTokens({ ...asked, passes: [pass] }, "policy")).toEqual({ trained: sampled, foreign: sampled });
});

test("each model has the renderer of its own tokenizer: a frozen opponent reads the game in its own ids", async () => {
  const { engine, asked } = recordingEngine();
  await trainBigram({ ...training({ second: { model: rival } }, "grpo"), engine });
  const rendererOf = (tokenizer: Parameters<typeof characterTokenizerFiles>[0]) =>
    chatRenderer({ tokenizerFiles: characterTokenizerFiles(tokenizer), eosTokenIds: [1] });
  const renderers = { policy: rendererOf({ alphabet: "abcd0123456789" }), "frozen-0": rendererOf(RIVAL_TOKENIZER) };
  const read = (model: keyof typeof renderers, isShown: RegExp): void => {
    const prompts = asked.samples.filter((sample) => sample.model === model);
    expect(prompts.length).toBeGreaterThan(0);
    for (const { tokens, start } of prompts) {
      const text = renderers[model].decode(tokens.subarray(0, start));
      expect([model, isShown.test(text) ? "" : text]).toEqual([model, ""]);
    }
  };
  read("policy", /^<\|user\|>[0-9]<\|end\|>/);
  read("frozen-0", /^<\|user\|>([abcd]+|0)<\|end\|>/);
});

test("each model has its own limit of positions and stop tokens", async () => {
  const short = await opponentDirectory({ max_position_embeddings: 16, eos_token_id: [1, 22] });
  const { engine, asked } = recordingEngine();
  const { played } = await trainBigram({ ...training({ second: { model: short } }, "grpo"), engine });
  const [own, other] = ["policy", "frozen-0"].map((name) => asked.samples.filter(({ model }) => model === name));
  expect(Math.max(...(other ?? []).map(({ tokens }) => tokens.length))).toBe(16);
  expect(Math.max(...(own ?? []).map(({ tokens }) => tokens.length))).toBeGreaterThan(16);
  expect(new Set(other?.map(({ stopTokenIds }) => stopTokenIds.join()))).toEqual(new Set(["1,22"]));
  expect(new Set(own?.map(({ stopTokenIds }) => stopTokenIds.join()))).toEqual(new Set(["1"]));
  const episodes = played.flat().flatMap(({ trajectories }) => trajectories);
  const exhausted = episodes.flatMap(({ turns }) => turns.filter(({ stopReason }) => stopReason === "exhausted"));
  expect(new Set(exhausted.map(({ agent }) => agent))).toEqual(new Set(["second"]));
  expect(episodes.filter(({ error }) => error !== undefined)).toEqual([]);
  // Each batch is played with the weights after the one before it.
  expect(played.map(([group]) => group?.players["first"]?.version)).toEqual([1, 2]);
  expect(played[0]?.[0]?.players["second"]).toEqual({ kind: "model", name: short });
});

test("a frozen opponent stays in the engine across stages, and a killed run continues with the same bits", async () => {
  const whole = training({ second: { model: rival } }, "grpo");
  const stages = [STAGES["grpo"], { ...STAGES["grpo"], name: "again", kl_coefficient: 0.1 }] as JsonObject[];
  const undisturbed = await trainBigram({ ...whole, stages });
  expect((await undisturbed.engine.describe()).models.map(({ model }) => model)).toEqual(["policy", "frozen-0"]);
  for (const dieAt of [2, 3]) {
    const resumed = await trainBigramInterrupted({ ...whole, stages }, dieAt);
    expect(resumed.weights).toEqual(undisturbed.weights);
  }
});

test("sides: shuffle changes sides between groups; one policy against one opponent keeps one reward metric", async () => {
  const { engine, asked } = recordingEngine();
  const environments = [{ id: "duel", players: { first: "policy", second: { model: rival } }, sides: "shuffle" }];
  const outcome = await trainBigram({ ...training(undefined, "grpo", { environments }), engine });
  expect(trainedTokens(asked, "policy").foreign).toBe(0);
  expect(rewardNames(outcome)).toEqual(["reward/mean", "reward/share", "reward/std"]);
  const beginners = asked.samples.filter(({ start }) => start === 4).map(({ model }) => model);
  expect(new Set(beginners)).toEqual(new Set(["policy", "frozen-0"]));
});

test("evaluations measure the policy by role where it plays several, and never its opponent", async () => {
  const config = { eval: { tasks: 4, samples: 1 } };
  const both = await trainBigram(training(undefined, "grpo", config));
  expect(both.summary.evaluations[0]?.results.map(({ environment, role }) => [environment, role])).toEqual([
    ["duel@1/first", "first"],
    ["duel@1/second", "second"],
  ]);
  const [first, second] = both.summary.evaluations[0]?.results ?? [];
  expect(first?.sampled?.reward).toBeCloseTo(-(second?.sampled?.reward as number), 9);
  const one = await trainBigram(training({ second: { scripted: "fixed", options: { text: "b" } } }, "grpo", config));
  const [only, ...others] = one.summary.evaluations[0]?.results ?? [];
  expect([only?.environment, only?.greedy.scored, others.length]).toEqual(["duel@1", 4, 0]);
  expect(only?.greedy.reward).toBeGreaterThanOrEqual(0);
});

describe("a policy with a name of its own", () => {
  const MODEL = {
    random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } },
  };
  const named = (stage: string): BigramTraining => {
    const players = { first: "alice", second: { model: rival } };
    return training(players, stage, { model: undefined, policies: { alice: MODEL } } as unknown as JsonObject);
  };

  test.each(["grpo", "dpo", "ppo"])(
    "%s trains it as it trains the policy of `model`, with the same bits",
    async (algorithm) => {
      const { engine, asked } = recordingEngine();
      const alice = await trainBigram({ ...named(algorithm), engine });
      const policy = await trainBigram(training({ second: { model: rival } }, algorithm));
      expect(trainedTokens(asked, "alice")).toMatchObject({ foreign: 0 });
      expect(new Set(asked.passes.map(({ model }) => model)).has("policy")).toBe(false);
      expect(alice.weights).toEqual(policy.weights);
      const changed = await trainBigramInterrupted(named(algorithm), 2);
      expect(changed.weights).toEqual(alice.weights);
    },
  );
});

test("the memory estimate of a run has its frozen models", async () => {
  const workloads: MemoryWorkload[] = [];
  class Estimating extends BigramEngine {
    override estimateMemory(workload: MemoryWorkload): Promise<MemoryEstimate> {
      workloads.push(workload);
      return super.estimateMemory(workload);
    }
  }
  await trainBigram({ ...training({ second: { model: rival } }, "grpo"), engine: new Estimating() });
  expect(workloads).toMatchObject([
    {
      models: [
        { model: "policy", trainable: true },
        { model: "frozen-0", trainable: false, source: { kind: "directory", path: rival } },
      ],
      sampledModels: ["policy", "frozen-0"],
    },
  ]);
});

test("another opponent of the evaluation of a resumed run replaces that of the checkpoint", async () => {
  const other = await opponentDirectory({ vocab_size: 30 });
  const evaluation = { tasks: 2, environments: [{ id: "duel", players: { second: { model: rival } } }] };
  const whole = training(undefined, "grpo", { eval: evaluation });
  const { summary, engine } = await trainBigram(whole);
  const sizeOf = async (held: Engine): Promise<unknown> =>
    (await held.describe()).models.map(({ model, vocabSize }) => [model, vocabSize]);
  expect(await sizeOf(engine)).toEqual([
    ["policy", 22],
    ["frozen-0", 23],
  ]);
  rmSync(join(summary.directory, "model"), { recursive: true });
  const path = join(summary.directory, "config.yaml");
  const written = readFileSync(path, "utf8");
  writeFileSync(path, written.replace(`model: ${rival}`, `model: ${other}`));
  const resumed = await trainBigram({ ...whole, resume: summary.directory });
  expect(await sizeOf(resumed.engine)).toEqual([
    ["policy", 22],
    ["frozen-0", 30],
  ]);
  expect(resumed.weights).toEqual((await trainBigram(whole)).weights);
});

test("a resumed run must have the players and the policy of its checkpoint", async () => {
  const { summary } = await trainBigram(training({ second: { model: rival } }, "grpo"));
  const path = join(summary.directory, "config.yaml");
  const written = readFileSync(path, "utf8");
  const resumeWith = async (from: string, to: string): Promise<unknown> => {
    expect(written).toContain(from);
    writeFileSync(path, written.replace(from, to));
    return openRun(summary.directory, () => undefined).catch((error: unknown) => error);
  };
  const refused = (field: string) =>
    expect.objectContaining({ code: "CHECKPOINT_MISMATCH", message: expect.stringContaining(field) });
  expect(await resumeWith(`model: ${rival}`, "scripted: fixed")).toEqual(
    refused("environments[0].players.second.scripted"),
  );
  expect(await resumeWith("sides: fixed", "sides: shuffle")).toEqual(
    refused('environments[0].sides: "fixed" -> "shuffle"'),
  );
  expect(await resumeWith("initializer_range: 0.5", "initializer_range: 0.4")).toEqual(
    refused("model.random.config.initializer_range"),
  );
});
