// Two policies on two engines: the weights do not depend on where they are. npm run test:faults -- several-engines kills the engines.
import { describe, expect, test } from "@jest/globals";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { routedEngine } from "@mrlm/client";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import type { JsonObject } from "@mrlm/spec";
import { BigramEngine, type BigramTraining, duelEnvironment, trainBigram } from "@mrlm/testing";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm, run } from "../e2e/support/mrlm.ts";
import { outcomeOf } from "../e2e/support/outcome.ts";
import { sharedEngine } from "../e2e/support/shared-engine.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { SIGNALS } from "./support/signals-run.ts";

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

describeWithEngine("two engine processes (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();
  const [first, second] = [sharedEngine(), sharedEngine()];

  test("a run that is killed and resumed has the bits of a run with one engine", async () => {
    const configOf = (name: string, changes: object): string => {
      const config = { ...SIGNALS, engine: first(), ...changes, output: join(directory, name) };
      return writeConfig(directory, config, `${name}.yaml`);
    };
    const runIn = (name: string): string => join(directory, name, readdirSync(join(directory, name))[0] as string);
    const ended = async (args: readonly string[]): Promise<void> => {
      const { code, stderr } = await run(["train", "--json", ...args]);
      if (code !== 0) throw new Error(stderr);
    };
    await ended(["--config", configOf("alone", {})]);
    const engines = { second: { ...second(), models: ["receiver"] } };
    const split = new Mrlm(["train", "--json", "--config", configOf("split", { engines })]);
    await split.event(({ event, step }) => event === "iteration" && step === 3);
    split.child.kill("SIGKILL");
    await split.finished;
    await ended(["--resume", runIn("split")]);
    expect(outcomeOf(runIn("split"))).toEqual(outcomeOf(runIn("alone")));
  }, 240_000);
});
