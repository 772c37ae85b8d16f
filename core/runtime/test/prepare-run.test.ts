import { afterAll, describe, expect, test } from "@jest/globals";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "@mrlm/kit";
import { type AlgorithmDefinition, MrlmError } from "@mrlm/spec";
import { z } from "zod";
import {
  checkLearners,
  LocalHost,
  parseConfig,
  PluginHost,
  policyOptions,
  prepareRun,
  trainedPolicy,
} from "@mrlm/runtime";
import { referenceOptions } from "../src/models/reference-model.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const grpo: AlgorithmDefinition<{
  steps: number;
  group_size: number;
  mismatch?: boolean | undefined;
  max_staleness?: number | undefined;
}> = {
  id: "grpo@1",
  description: "",
  options: z.strictObject({
    steps: z.int().positive(),
    group_size: z.int().positive().default(8),
    clip_low: z.number().default(0.2),
    mismatch: z.boolean().optional(),
    max_staleness: z.int().optional(),
  }),
  iterations: ({ steps }) => steps,
  plays: ({ group_size, mismatch, max_staleness }) => ({
    name: "grpo",
    groups: 1,
    groupSize: group_size,
    ...(mismatch === true ? {} : { uncorrected: "set `mismatch`" }),
    ...(max_staleness === undefined ? {} : { maxStaleness: max_staleness }),
  }),
  validate({ group_size }, _environments, { temperature }) {
    if (temperature === 0) throw new MrlmError("CONFIG_INVALID", "sampling.temperature is 0: nothing varies.");
    if (group_size === 1) throw new MrlmError("CONFIG_INVALID", "group_size is 1: a group of one has no advantage.");
  },
  create: () => Promise.reject(new Error("not played here")),
};

const { plays: _, ...unplayed } = grpo;
const demonstrations = { ...unplayed, id: "demonstrations@1" } as const;

const loaded = (text: string) => parseConfig(text, { path: "run.yaml" });

async function prepare(text: string) {
  const environment = counterEnvironment({
    optionsJsonSchema: { type: "object", properties: { goal: { type: "integer" } } },
  });
  const source = await PluginHost.of([
    definePlugin({
      name: "test",
      environments: [environment, { ...environment, id: "unbounded@1", rewardRange: [-Infinity, 1] }],
      algorithms: [grpo, demonstrations],
    }),
  ]);
  const host = new LocalHost({ source });
  return prepareRun(loaded(text), { host, algorithms: source });
}

const MODEL = "model: {random: {config: {}}}\n";
const failure = (text: string): Promise<MrlmError> =>
  prepare(text).then(
    () => Promise.reject(new Error("it was accepted")),
    (error: MrlmError) => error,
  );

describe("every error is reported before training begins, with its place", () => {
  const cases: [string, string, string, RegExp][] = [
    [
      "an environment that does not exist",
      "environments: [{id: countr}]\nstages: [{algorithm: grpo, steps: 1}]",
      "ENVIRONMENT_NOT_FOUND",
      /^run\.yaml:2:16: .*Did you mean "counter"/,
    ],
    [
      "an environment's option",
      "environments: [{id: counter, options: {goal: 0}}]\nstages: [{algorithm: grpo, steps: 1}]",
      "OPTIONS_INVALID",
      /^run\.yaml:2:40: .*goal/,
    ],
    [
      "an algorithm that does not exist",
      "environments: [{id: counter}]\nstages: [{algorithm: gpro}]",
      "PLUGIN_NOT_FOUND",
      /^run\.yaml:3:22: .*Did you mean "grpo"/,
    ],
    [
      "an algorithm's unknown option",
      "environments: [{id: counter}]\nstages:\n  - algorithm: grpo\n    steps: 1\n    group_sise: 4",
      "CONFIG_INVALID",
      /^run\.yaml:6:5: unknown key "group_sise".*Did you mean "group_size"/,
    ],
    [
      "what another trainer calls differently",
      "environments: [{id: counter}]\nstages: [{algorithm: grpo, max_steps: 1, num_generations: 4, max_completion_length: 9}]",
      "CONFIG_INVALID",
      /"max_steps"\. Here it is called "steps"\.[^]*"num_generations"\. Here it is called "group_size"\.[^]*"max_completion_length"\. Here it is called "sampling\.max_tokens"\./,
    ],
    [
      "an algorithm's option of the wrong kind",
      "environments: [{id: counter}]\nstages: [{algorithm: grpo, options: {steps: many}}]",
      "CONFIG_INVALID",
      /^run\.yaml:3:45: steps: .*number/,
    ],
    ["a missing option", "environments: [{id: counter}]\nstages: [{algorithm: grpo}]", "CONFIG_INVALID", /steps/],
    [
      "a group size that cannot give an advantage",
      "environments: [{id: counter}]\nstages: [{algorithm: grpo, steps: 1, group_size: 1}]",
      "CONFIG_INVALID",
      /^run\.yaml:3:10: .*no advantage/,
    ],
    [
      "sampling that a later stage cannot train on",
      "environments: [{id: counter}]\nstages:\n  - {algorithm: grpo, steps: 1}\n  - {algorithm: grpo, steps: 1, sampling: {temperature: 0}}",
      "CONFIG_INVALID",
      /^run\.yaml:5:5: .*temperature is 0/,
    ],
    [
      "an algorithm with a wrong gradient for older weights",
      "environments: [{id: counter}]\nplay: {mode: pipelined}\nstages: [{algorithm: grpo, steps: 1}]",
      "CONFIG_INVALID",
      /^run\.yaml:4:10: .*weights of up to 1 batches before, and grpo@1 has a wrong gradient for them: set `mismatch`/,
    ],
    [
      "an algorithm that refuses what is played ahead of it",
      "environments: [{id: counter}]\nplay: {mode: async, lag: 4}\nstages: [{algorithm: grpo, steps: 1, mismatch: true, max_staleness: 3}]",
      "CONFIG_INVALID",
      /^run\.yaml:4:10: .*grpo@1 refuses them: max_staleness is 3/,
    ],
    [
      "the same entry twice before it",
      "environments: [{id: counter}, {id: counter}, {id: countr}]\nstages: [{algorithm: grpo, steps: 1}]",
      "ENVIRONMENT_NOT_FOUND",
      /^run\.yaml:2:46: /,
    ],
    [
      "a misspelt key of the stage itself",
      "environments: [{id: counter}]\nstages: [{algorithm: grpo, steps: 1, untli: {accuracy: 1}}]",
      "CONFIG_INVALID",
      /^run\.yaml:3:38: unknown key "untli".*Did you mean "until"/,
    ],
    [
      "a goal without an environment to measure it in",
      "stages: [{algorithm: demonstrations, steps: 1, until: {accuracy: 0.5}}]",
      "CONFIG_INVALID",
      /^run\.yaml:2:48: until is measured on tasks/,
    ],
    [
      "a curriculum of an algorithm that plays nothing",
      "environments: [{id: counter}]\nstages: [{algorithm: demonstrations, steps: 1, curriculum: {}}]",
      "CONFIG_INVALID",
      /^run\.yaml:3:48: curriculum has no effect: demonstrations@1 plays no episodes/,
    ],
    [
      "a curriculum over rewards without a least one, which have no pass rate",
      "environments: [{id: unbounded}]\nstages: [{algorithm: grpo, steps: 1, curriculum: {}}]",
      "CONFIG_INVALID",
      /^run\.yaml:3:38: curriculum needs pass rates, and the rewards of unbounded have no finite `rewardRange`/,
    ],
    [
      "a split that does not exist",
      "environments: [{id: counter}]\neval: {split: evil}\nstages: [{algorithm: grpo, steps: 1}]",
      "CONFIG_INVALID",
      /split "evil".*Did you mean "eval"/,
    ],
  ];
  test.each(cases)("%s", async (_name, text, code, message) => {
    expect(await failure(MODEL + text)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test("N24: an unknown option with a guess has no list of all options, one without a guess has it", async () => {
    const stage = (option: string): string =>
      `${MODEL}environments: [{id: counter}]\nstages: [{algorithm: grpo, steps: 1, ${option}}]`;
    const guessed = await failure(stage("group_sise: 4"));
    expect([guessed.hint, guessed.message]).toEqual([
      expect.not.stringContaining("prompts_per_step"),
      expect.stringContaining('Did you mean "group_size"?'),
    ]);
    expect((await failure(stage("max_steps: 4"))).hint).not.toContain("prompts_per_step");
    for (const option of ["zzz: 4", "zzz: 4, group_sise: 4"])
      expect((await failure(stage(option))).hint).toMatch(/^Correct the keys? at .* Options of grpo@1: .*group_size/);
  });

  test("an algorithm that cannot learn from older weights, before there is an environment", async () => {
    const source = await PluginHost.of([definePlugin({ name: "test", algorithms: [grpo] })]);
    const check = (play: string): Promise<void> =>
      checkLearners(
        loaded(`${MODEL}environments: [{id: counter}]\n${play}stages: [{algorithm: grpo, steps: 1}]`),
        source,
      );
    await expect(check("play: {mode: pipelined}\n")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/^run\.yaml:4:10: .*wrong gradient for them/),
    });
    await check("");
  });

  test("a model directory that is not there, or is none", async () => {
    const rest = "\nenvironments: [{id: counter}]\nstages: [{algorithm: grpo, steps: 1}]";
    expect(await failure(`model: {path: /nowhere}${rest}`)).toMatchObject({
      code: "MODEL_DIRECTORY_MISSING",
      message: expect.stringMatching(/^run\.yaml:1:8: .*\/nowhere/),
    });
    expect(await failure(`model: {path: ${temporaryDirectory()}}${rest}`)).toMatchObject({
      code: "MODEL_DIRECTORY_INVALID",
      message: expect.stringContaining("config.json and tokenizer.json"),
    });
    expect(await failure(`model: {random: {config: /nowhere.json}}${rest}`)).toMatchObject({
      code: "MODEL_DIRECTORY_INVALID",
    });
    expect(await failure(`model: {random: {config: {}, tokenizer: /nowhere}}${rest}`)).toMatchObject({
      code: "TOKENIZER_INVALID",
    });
    expect((await prepare(`model: {path: /nowhere}\nengine: {address: "gpu:50052"}${rest}`)).stages).toHaveLength(1);
  });
});

test("a split that is empty is called empty, and what fills it is named", async () => {
  const empty = counterEnvironment({
    options: z.object({ data: z.object({}).optional() }),
    tasks: () => ({ splits: { train: 1, eval: 0 }, get: () => Promise.reject(new Error("not played here")) }),
  });
  const source = await PluginHost.of([
    definePlugin({ name: "test", environments: [empty], algorithms: [grpo, demonstrations] }),
  ]);
  const refused = prepareRun(
    parseConfig(`${MODEL}environments: [{id: counter, options: {data: {}}}]\nstages: [{algorithm: grpo, steps: 1}]`, {
      path: "run.yaml",
    }),
    { host: new LocalHost({ source }), algorithms: source },
  );
  await expect(refused).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(/split "eval"\. The split is empty/),
    hint: expect.stringContaining("data.eval_share"),
  });
});

describe("the legacy form", () => {
  test("options that the installed plugins do not have are dropped, each with its place", async () => {
    const prepared = await prepare(
      "model: {model_name_or_path: m}\nengine: {address: x:1}\ntraining: {algorithm: grpo, num_epochs: 5, batch_size: 8, learning_rate: 1.0e-5}\ngrpo: {clip_range: 0.3, group_size: 4, gamma: 0.9}\neval_envs: [{env_type: counter, mode: client, difficulty_range: [1, 3], custom_kwargs: {goal: 3}}]",
    );
    expect(prepared.stages[0]?.learners[0]?.options).toEqual({ steps: 5, group_size: 4, clip_low: 0.3 });
    expect(prepared.environments[0]?.ref).toEqual({ id: "counter@1", options: { goal: 3 } });
    expect(prepared.notices.map((notice) => notice.replace(/: grpo@1|: counter@1/, ""))).toEqual([
      expect.stringMatching(/^run\.yaml:5:47: difficulty_range has no effect/),
      expect.stringMatching(/^run\.yaml:3:\d+: learning_rate has no effect/),
      expect.stringMatching(/^run\.yaml:4:\d+: clip_high has no effect/),
      expect.stringMatching(/^run\.yaml:4:\d+: gamma has no effect/),
      expect.stringMatching(/^run\.yaml:3:\d+: prompts_per_step has no effect/),
    ]);
  });

  test("an error about an option of an environment names its place", async () => {
    expect(
      await failure(
        `${MODEL}training: {algorithm: grpo, num_epochs: 5}\neval_envs: [{env_type: counter, custom_kwargs: {goal: much}}]`,
      ),
    ).toMatchObject({ message: expect.stringMatching(/^run\.yaml:3:49: .*goal/) });
  });

  test("a value of the wrong kind is still an error", async () => {
    expect(
      await failure(
        `${MODEL}training: {algorithm: grpo, num_epochs: 5}\ngrpo: {group_size: 1}\neval_envs: [{env_type: counter}]`,
      ),
    ).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("no advantage") });
  });
});

test("several processes: settings that cannot start are refused, those without effect are reported", async () => {
  const text = `${MODEL}environments: [{id: counter}]\nstages: [{algorithm: grpo, steps: 1}]\n`;
  expect((await prepare(`${text}distributed: {enabled: true, strategy: ddp, num_gpus: 2}`)).notices).toEqual([]);
  expect((await prepare(`${text}engine: {address: "gpu:1"}\ndistributed: {nproc_per_node: 2}`)).notices).toEqual([
    expect.stringMatching(/^run\.yaml:5:1: distributed has no effect: the engine at gpu:1 is already running/),
  ]);
  expect(await failure(`${text}distributed: {nnodes: 2}`)).toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("master_addr"),
  });
  const second = `${text}distributed: {nnodes: 2, node_rank: 1, master_addr: head}`;
  expect((await prepare(second)).notices).toEqual([
    expect.stringMatching(/node_rank has no effect: .*mrlm join --node-rank N/),
  ]);
});

describe("the policy", () => {
  const optionsOf = (model: string) =>
    policyOptions(parseConfig(`model: ${model}\nseed: 5\nstages: [{algorithm: x}]`, { path: "run.yaml" }).config);

  test("random weights: the tokenizer fills in what the configuration leaves out", () => {
    const { source } = optionsOf(
      "{random: {config: {hidden_size: 8}, tokenizer: {characters: {alphabet: abc, tags: []}}}}",
    );
    expect(source).toMatchObject({
      kind: "random",
      seed: 5,
      config: { hidden_size: 8, vocab_size: 9, pad_token_id: 0, eos_token_id: 1 },
    });
    expect(optionsOf("{random: {config: {vocab_size: 128}, seed: 9}}").source).toMatchObject({
      seed: 9,
      config: { vocab_size: 128 },
    });
  });

  test("from files: a config.json and a tokenizer's directory", () => {
    const directory = temporaryDirectory();
    const { source } = optionsOf("{random: {config: {}}}");
    mkdirSync(join(directory, "tokenizer"));
    if (source.kind === "random")
      for (const [name, content] of Object.entries(source.tokenizerFiles))
        writeFileSync(join(directory, "tokenizer", name), content);
    writeFileSync(join(directory, "config.json"), JSON.stringify({ hidden_size: 16 }));
    expect(optionsOf(`{random: {config: ${directory}, tokenizer: ${directory}/tokenizer}}`).source).toEqual({
      ...source,
      config: { ...(source.kind === "random" ? source.config : {}), hidden_size: 16 },
    });
  });

  test("adapters and precision", () => {
    expect(
      optionsOf(
        "{random: {config: {}}, dtype: bfloat16, float32_head: true, micro_batch_tokens: 64, lora: {rank: 4, alpha: 8, target_modules: [q_proj]}}",
      ),
    ).toMatchObject({
      dtype: "bfloat16",
      float32Head: true,
      microBatchTokens: 64,
      lora: { rank: 4, alpha: 8, targetModules: ["q_proj"], seed: 5 },
    });
  });

  test("M1: a saved adapter: its directory, and the error for another directory", () => {
    const directory = temporaryDirectory();
    const adapted = (): unknown => optionsOf(`{random: {config: {}}, lora: {path: ${directory}}}`).lora;
    expect(adapted).toThrow(
      expect.objectContaining({
        code: "MODEL_DIRECTORY_INVALID",
        message: expect.stringContaining("lacks adapter_config.json and adapter_model.safetensors"),
      }),
    );
    for (const name of ["adapter_config.json", "adapter_model.safetensors"]) writeFileSync(join(directory, name), "{}");
    expect(adapted()).toEqual({ path: directory, seed: 5 });
    expect(() => optionsOf("{random: {config: {}}, lora: {path: /none/such}}")).toThrow(
      expect.objectContaining({ code: "MODEL_DIRECTORY_MISSING" }),
    );
    for (const lora of ["{rank: 4}", "{alpha: 8}", "{}"])
      expect(() => optionsOf(`{random: {config: {}}, lora: ${lora}}`)).toThrow(
        /needs rank and alpha, or the path of a saved adapter/,
      );
  });

  test("M1: the reference of a new adapter is the policy without it; of one that continues, and later, it is a copy", () => {
    const { config } = parseConfig(
      "model: {random: {config: {}}, lora: {rank: 4, alpha: 8}}\nstages: [{algorithm: x}]",
      { path: "run.yaml" },
    );
    const continued = {
      ...config,
      policies: { policy: { ...trainedPolicy(config).model, lora: { path: "adapter" } } },
    };
    expect(
      [
        referenceOptions(config, 0, "policy"),
        referenceOptions(config, 1, "policy"),
        referenceOptions(continued, 0, "policy"),
      ].map(({ source }) => source.kind),
    ).toEqual(["adapter-off", "copy", "copy"]);
  });
});
