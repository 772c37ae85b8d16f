import assert from "node:assert/strict";
import { definePlugin } from "@mrlm/kit";
import { parseConfig, type loadConfig } from "@mrlm/runtime";
import { commands } from "./commands.ts";
import { guessing, withHost } from "./guessing.ts";
import type { Rows } from "./row.ts";

type ConfigOptions = NonNullable<Parameters<typeof loadConfig>[1]>;

const LEGACY = `
experiment_name: old
model: { path: m }
eval_envs: [{ env_type: code, mode: client }, { env_type: math, mode: server }]
training: { algorithm: grpo, learning_rate: 0.01, num_epochs: 7 }
output: { save_dir: results, log_interval: 10, eval_interval: 5, save_interval: 20 }
distributed: { num_gpus: 2, num_nodes: 3 }
`;

const path: ConfigOptions & { readonly path: string } = { path: "old.yaml" };
const translated = () => parseConfig(LEGACY, path);

export const mrlm: Rows = {
  "`mrlm train`, `serve`, `eval`, `collect`, `info`": commands.ofMrlm,
  "`experiment_name`": async () => assert.equal(translated().config.name, "old"),
  "`eval_envs[].env_type`": async () => assert.equal(translated().config.environments[0]?.id, "code"),
  "`eval_envs[].mode: client`, `server`": async () =>
    assert.deepEqual(
      translated().config.environments.map(({ id }) => id),
      ["code"],
    ),
  "`custom_class`": () =>
    withHost(
      async (host) => assert.equal((await host.describe({ id: "guessing@1" })).id, "guessing@1"),
      [definePlugin({ name: "own", environments: [{ ...guessing, requires: [] }] })],
    ),
  "`training` with `algorithm`, `learning_rate`, ...": async () =>
    assert.partialDeepStrictEqual(
      translated().config.stages.map(({ learners }) => learners["policy"]),
      [{ algorithm: "grpo", options: { learning_rate: 0.01, steps: 7 } }],
    ),
  "`log_interval`, `eval_interval`, `save_interval`": async () => {
    const { config, notices } = translated();
    assert.deepEqual([config.eval.every, config.checkpoint.every], [5, 20]);
    assert.match(JSON.stringify(notices), /log_interval/);
  },
  "`save_dir`": async () => assert.match(translated().config.output.directory, /results$/),
  "`num_gpus`, `num_nodes`": async () =>
    assert.partialDeepStrictEqual(translated().config.distributed, { nproc_per_node: 2, nnodes: 3 }),
  "`reward_scale`, `reward_clip`": async () => {
    const old = LEGACY.replace("mode: client", "mode: client, reward_scale: 2");
    const { config, notices } = parseConfig(old, path);
    assert.match(JSON.stringify(notices), /reward_scale/);
    assert.deepEqual(config.environments, translated().config.environments);
  },
};
