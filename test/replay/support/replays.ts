import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { definePlugin } from "@mrlm/kit";
import { ppo } from "@mrlm/ppo";
import {
  loadConfig,
  LocalHost,
  openReplay,
  PluginHost,
  prepareRun,
  type PreparedRun,
  type ReplayResult,
  replayRun,
} from "@mrlm/runtime";
import { sft } from "@mrlm/sft";
import { type EnvironmentDefinition, type JsonObject, score } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { BigramEngine, type BigramTraining, duelEnvironment, lettersEnvironment } from "@mrlm/testing";

/** Groups of odd tasks have no signal, so that GRPO refills its batches. */
const letters = lettersEnvironment({
  reward: (text, { index }) => score(index % 2 === 0 ? [...text].filter((letter) => letter === "a").length : 0),
});
/** Episodes of many turns, in which weights change. */
const chat = lettersEnvironment({ id: "chat@1", turns: 8 });
/** Episodes whose turns are compared by the first letter of the answer before them. */
const stated = lettersEnvironment({ id: "stated@1", turns: 3, stateKey: (text) => text.slice(0, 1) });
const ENVIRONMENTS: readonly EnvironmentDefinition[] = [letters, duelEnvironment({ rounds: 2 }), chat, stated];
const ALGORITHMS = [grpo, dpo, ppo, sft];

const policy = (seed: number): JsonObject => ({
  random: {
    config: { initializer_range: 0.5 },
    tokenizer: { characters: { alphabet: seed === 1 ? "abcd0123456789" : "9876543210dcba" } },
    seed,
  },
});

const GRPO = { algorithm: "grpo", prompts_per_step: 4, group_size: 4, learning_rate: 0.2 };
const PPO = { ...GRPO, algorithm: "ppo", critic: "separate", kl_coefficient: 0.1 };
const DUEL = { environments: [{ id: "duel", players: { first: "alice", second: "bob" } }] };
const POLICIES = { model: undefined as never, policies: { alice: policy(1), bob: policy(2) }, ...DUEL };

const training = (stages: readonly JsonObject[], config: JsonObject = {}): BigramTraining => ({
  algorithms: ALGORITHMS,
  environments: ENVIRONMENTS,
  stages,
  config: { environments: [{ id: "letters" }], eval: { tasks: 2, every: 2 }, ...config },
});

/** Runs of all four algorithms, of several learners, several policies, and past players. */
export const RUNS: Readonly<Record<string, BigramTraining>> = {
  "SFT until a goal, then GRPO with refills, a reference and minibatches": training([
    { algorithm: "sft", steps: 9, batch_size: 8, learning_rate: 0.5, until: { accuracy: 0.2, every: 3, tasks: 4 } },
    {
      ...GRPO,
      steps: 4,
      dynamic_sampling: 2,
      scale: "batch_std",
      updates_per_step: 2,
      minibatches: 2,
      kl_coefficient: 0.01,
      lr_schedule: "linear",
    },
  ]),
  "PPO with a critic, then DPO in rounds": training([
    { ...PPO, steps: 4, minibatches: 2, critic_warmup_steps: 1 },
    {
      algorithm: "dpo",
      steps: 5,
      prompts: 6,
      group_size: 4,
      pairs_per_group: 1,
      batch_size: 4,
      collect_every: 2,
      learning_rate: 0.1,
    },
  ]),
  "GRPO of one policy beside PPO of another, then GRPO of the second": training(
    [
      { learners: { alice: { ...GRPO, steps: 4 }, bob: { ...PPO, steps: 4 } } },
      { learners: { bob: { ...GRPO, steps: 3 } } },
    ],
    POLICIES,
  ),
  "GRPO against earlier versions": training([{ ...GRPO, steps: 7 }], {
    environments: [
      {
        id: "duel",
        players: { first: "policy", second: { policy: "policy", past: { every: 2, keep: 2, newest: 0.5 } } },
      },
    ],
    eval: { tasks: 0 },
  }),
  "GRPO with credit by branches of both roles": training(
    [{ ...GRPO, steps: 5, credit: "branch", branches: 2, dynamic_sampling: 1, minibatches: 2 }],
    { environments: [{ id: "duel" }], eval: { tasks: 0 } },
  ),
};

/** Runs that play ahead of learning. In the last one a batch is of the groups that were played first. */
export const AHEAD: Readonly<Record<string, BigramTraining>> = {
  "GRPO with refills until a goal, then DPO of every second iteration, two batches ahead": training(
    [
      { ...GRPO, steps: 7, mismatch: "truncate", dynamic_sampling: 2, until: { accuracy: 1, every: 3, tasks: 4 } },
      { algorithm: "dpo", steps: 7, prompts: 6, group_size: 4, pairs_per_group: 1, batch_size: 4, collect_every: 2 },
    ],
    { play: { mode: "pipelined", lag: 2, cohorts: 2 } },
  ),
  "GRPO beside play": training([{ ...GRPO, steps: 8, mismatch: "truncate", dynamic_sampling: 1 }], {
    play: { mode: "async", lag: 2 },
    sampling: { concurrency: 16 },
  }),
  "GRPO with a curriculum over two environments, beside play": training(
    [
      {
        ...GRPO,
        steps: 8,
        mismatch: "truncate",
        dynamic_sampling: 1,
        curriculum: { half_life: 2, mixture: "progress" },
      },
    ],
    {
      environments: [{ id: "letters" }, { id: "stated" }],
      eval: { tasks: 0 },
      play: { mode: "async", lag: 2 },
      sampling: { concurrency: 16 },
    },
  ),
  "GRPO with credit by state, beside play": training(
    [{ ...GRPO, steps: 6, mismatch: "truncate", credit: "state", gamma: 0.5, dynamic_sampling: 1 }],
    {
      environments: [{ id: "stated" }],
      eval: { tasks: 0 },
      play: { mode: "async", lag: 1 },
      sampling: { concurrency: 8 },
    },
  ),
  "GRPO with credit by branches, beside play": training(
    [{ ...GRPO, steps: 6, mismatch: "truncate", credit: "branch", branches: 2, branch_every: 2, dynamic_sampling: 1 }],
    {
      environments: [{ id: "chat" }],
      eval: { tasks: 0 },
      play: { mode: "async", lag: 1 },
      sampling: { concurrency: 8 },
    },
  ),
  "GRPO with credit by branches, two batches ahead": training(
    [{ ...GRPO, steps: 5, mismatch: "truncate", credit: "branch", branches: 2 }],
    { environments: [{ id: "stated" }], eval: { tasks: 0 }, play: { mode: "pipelined", lag: 2, cohorts: 2 } },
  ),
  "PPO of the groups that were played first, beside play": training(
    [{ ...PPO, prompts_per_step: 2, group_size: 2, steps: 6, mismatch: "mask", mismatch_cap: 5 }],
    {
      environments: [{ id: "chat" }],
      eval: { tasks: 0 },
      play: { mode: "async", lag: 1, on_stale: "correct" },
      sampling: { concurrency: 6 },
    },
  ),
};

/** Parts with which a rollout worker plays for a run of {@link AHEAD}. */
export async function partsForPlay(
  directory: string,
): Promise<{ readonly prepared: PreparedRun; readonly host: LocalHost }> {
  const source = await pluginsOfRuns();
  const host = new LocalHost({ source });
  return { prepared: await prepareRun(loadConfig(join(directory, "config.yaml")), { host, algorithms: source }), host };
}

function pluginsOfRuns(): Promise<PluginHost> {
  return PluginHost.of([definePlugin({ name: "test", environments: ENVIRONMENTS, algorithms: ALGORITHMS })]);
}

/** Parts that a replay of a run of {@link RUNS} needs. */
export async function partsOf(
  directory: string,
  from = "start",
): Promise<{
  readonly opened: Awaited<ReturnType<typeof openReplay>>;
  readonly prepared: PreparedRun;
  readonly host: LocalHost;
}> {
  const opened = await openReplay(directory, from);
  const source = await pluginsOfRuns();
  const host = new LocalHost({ source });
  return { opened, prepared: await prepareRun(opened.loaded, { host, algorithms: source }), host };
}

/** Replays a run of {@link RUNS}. */
export async function replay(
  directory: string,
  from = "start",
  { engine = new BigramEngine(), out }: { readonly engine?: Engine; readonly out?: string } = {},
): Promise<ReplayResult> {
  const { opened, prepared, host } = await partsOf(directory, from);
  try {
    return await replayRun({ opened, prepared, host, engine, ...(out === undefined ? {} : { out }) });
  } finally {
    opened.log.close();
    await host.close();
  }
}

/** Returns the SHA-256 of each file of a directory. */
export function filesOf(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).toSorted();
  return Object.fromEntries(
    names
      .filter((name) => statSync(join(directory, name)).isFile())
      .map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(directory, name)))
          .digest("hex"),
      ]),
  );
}
