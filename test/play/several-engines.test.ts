// Two policies on two engines: the weights do not depend on where they are.
import { describe, expect, test } from "@jest/globals";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { routedEngine } from "@mrlm/client";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import type { JsonObject } from "@mrlm/spec";
import { BigramEngine, type BigramTraining, duelEnvironment, trainBigram } from "@mrlm/testing";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm, run } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { TINY, writeConfig } from "../e2e/support/tiny-run.ts";

const GRPO = { algorithm: "grpo", steps: 3, prompts_per_step: 4, group_size: 4, learning_rate: 0.2 };
const PPO = { ...GRPO, algorithm: "ppo", critic: "separate", kl_coefficient: 0.1 };
const random = (seed: number): JsonObject => ({
  random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } }, seed },
});

describe("two engines in this process", () => {
  test.each<[JsonObject, JsonObject]>([
    [{ mode: "sync" }, {}],
    [{ mode: "pipelined", cohorts: 2 }, { mismatch: "truncate" }],
  ])("%j: the weights are those of one", async (play, options) => {
    const training: BigramTraining = {
      algorithms: [grpo, ppo],
      environments: [duelEnvironment({ rounds: 2 })],
      stages: [{ learners: { alice: { ...GRPO, ...options }, bob: { ...PPO, ...options } } }],
      config: {
        model: undefined as never,
        policies: { alice: random(1), bob: random(2) },
        environments: [{ id: "duel", players: { first: "alice", second: "bob" } }],
        play,
      },
    };
    const one = await trainBigram(training);
    const [first, second] = [new BigramEngine(), new BigramEngine()];
    const engine = routedEngine([
      { name: "main", engine: first, models: [] },
      { name: "second", engine: second, models: ["bob"] },
    ]);
    const two = await trainBigram({ ...training, engine });
    expect(two.weights.equals(one.weights)).toBe(true);
    for (const [each, model] of [
      [first, "alice"],
      [second, "bob"],
    ] as const)
      expect((await each.describe()).models).toMatchObject([{ model }]);
  });
});

const MODEL = {
  random: {
    config: { ...TINY.model.random.config, num_hidden_layers: 1, initializer_range: 0.1 },
    tokenizer: { characters: { alphabet: "0123456789abcdef-", tags: [] } },
  },
};
const SIGNALS = {
  name: "signals",
  seed: 3,
  policies: { sender: MODEL, receiver: MODEL },
  environments: [{ id: "signals", options: { style: "terse" }, players: { sender: "sender", receiver: "receiver" } }],
  sampling: { max_tokens: 1 },
  stages: [
    {
      learners: Object.fromEntries(
        ["sender", "receiver"].map((name) => [
          name,
          {
            algorithm: "grpo",
            steps: 4,
            prompts_per_step: 4,
            group_size: 4,
            learning_rate: 1e-2,
            entropy_coefficient: 0.2,
          },
        ]),
      ),
    },
  ],
  eval: { tasks: 0 },
  checkpoint: { every: 2 },
  engine: { threads: 2 },
};

describeWithEngine("two engine processes (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();

  test("a run whose second engine is killed names it, and has the bits of a run with one engine when it is resumed", async () => {
    const train = (name: string, changes: object): Mrlm => {
      const config = { ...SIGNALS, ...changes, output: join(directory, name) };
      return new Mrlm(["train", "--json", "--config", writeConfig(directory, config, `${name}.yaml`)]);
    };
    const alone = train("alone", {});
    const split = train("split", { engines: { second: { threads: 2, models: ["receiver"] } } });
    await split.event(({ event, step }) => event === "iteration" && step === 3);
    const pids = split.pids("engine second");
    expect(pids).toHaveLength(1);
    process.kill(pids[0] as number, "SIGKILL");
    const killed = await split.finished;
    expect(killed.stderr).toMatch(/ENGINE_EXITED: Engine \\?"second\\?": .*SIGKILL/);
    const path = /--resume (\S+)/.exec(killed.stderr)?.[1] as string;
    expect(existsSync(join(path, "engines/second/engine.log"))).toBe(true);
    const resumed = await run(["train", "--json", "--resume", path]);
    if (resumed.code !== 0) throw new Error(resumed.stderr);
    const { code, stderr, events } = await alone.finished;
    if (code !== 0) throw new Error(stderr);
    const whole = events.find(({ event }) => event === "summary")?.["directory"] as string;
    expect(outcomeOf(path)).toEqual(outcomeOf(whole));
  }, 240_000);
});
