import { describe, expect, test } from "@jest/globals";
import { parseConfig } from "@mrlm/runtime";

const parse = (text: string) => parseConfig(text, { path: "/configs/run.yaml", workingDirectory: "/work" });

describe("the legacy form", () => {
  test("a small PPO run", () => {
    const { config, notices, source, dropsUnknownOptions, learnerPath } = parse(`
experiment_name: small
output_dir: ./out/small
training: {algorithm: ppo, num_epochs: 10, batch_size: 8, learning_rate: 1.0e-5, num_rollouts_per_iteration: 16, eval_every: 5, save_every: 4}
ppo: {clip_range: 0.2, gamma: 0.99, gae_lambda: 0.95}
model: {model_name_or_path: gpt2, torch_dtype: float32, max_new_tokens: 128, temperature: 0.8}
eval_envs:
  - {env_type: code, mode: client, max_turns: 3, timeout: 3.0}
distributed: {enabled: false, strategy: ddp}
`);
    expect(config).toMatchObject({
      name: "small",
      output: { directory: "/work/out/small" },
      policies: { policy: { path: "/configs/gpt2", dtype: "float32" } },
      stages: [
        {
          name: "ppo",
          learners: {
            policy: {
              algorithm: "ppo",
              options: {
                steps: 10,
                prompts_per_step: 16,
                learning_rate: 1e-5,
                clip_low: 0.2,
                clip_high: 0.2,
                gamma: 0.99,
                gae_lambda: 0.95,
              },
            },
          },
        },
      ],
      environments: [{ id: "code", options: {}, weight: 1, max_turns: 3 }],
      eval: { every: 5 },
      checkpoint: { every: 4 },
      sampling: { max_tokens: 128, temperature: 0.8 },
      distributed: { enabled: false, nproc_per_node: 1 },
    });
    expect(notices).toEqual([
      "/configs/run.yaml:8:50: eval_envs[0].timeout has no effect: deadlines belong to the environment.",
    ]);
    expect(dropsUnknownOptions).toEqual({ stages: true, environments: true });
    const placeOf = (option: string) => source.locate(learnerPath(0, "policy", [option]), "key");
    expect(placeOf("clip_low")).toBe("/configs/run.yaml:5:7");
    expect(placeOf("prompts_per_step")).toBe("/configs/run.yaml:4:82");
    expect(source.locate(["environments", 0, "id"])).toBe("/configs/run.yaml:8:16");
  });

  test("GRPO: episodes become tasks, attempts and difficulties become the environment's options", () => {
    const { config, notices } = parse(`
experiment_name: grpo
tags: [math]
training: {algorithm: GRPO, num_epochs: 50, batch_size: 8, learning_rate: 1.0e-5, weight_decay: 0.01, max_grad_norm: 1.0, max_episode_length: 5, episodes_per_iteration: 32, seed: 42, lr_scheduler: cosine, warmup_steps: 3, use_bf16: true}
grpo: {clip_range: 0.2, num_grpo_epochs: 4, group_size: 4, entropy_coef: 0.01, value_clip_range: 0.2, value_loss_coef: 0.5, gamma: 1.0, gae_lambda: 0.95, target_kl: 0.01}
ppo: {gamma: 1.0}
model:
  model_name_or_path: /models/m
  device_map: auto
  use_flash_attention: true
  use_lora: true
  lora_r: 4
  lora_dropout: 0.05
  generation: {max_new_tokens: 512, temperature: 0.7, do_sample: true, top_p: 0.9}
eval_envs:
  - {env_type: math, mode: client, difficulty_range: [1, 3], max_attempts: 2, dataset: null}
output: {save_dir: outputs/grpo, log_interval: 10, eval_interval: 5, save_interval: 7}
`);
    expect(config).toMatchObject({
      seed: 42,
      policies: { policy: { path: "/models/m", dtype: "bfloat16", lora: { rank: 4, alpha: 16 } } },
      stages: [
        {
          learners: {
            policy: {
              algorithm: "grpo",
              options: {
                steps: 50,
                prompts_per_step: 8,
                group_size: 4,
                updates_per_step: 4,
                entropy_coefficient: 0.01,
                lr_schedule: "cosine",
                warmup_steps: 3,
              },
            },
          },
        },
      ],
      environments: [{ id: "math", options: { difficulty_range: [1, 3], attempts: 2 }, max_turns: 5 }],
      sampling: { max_tokens: 512, temperature: 0.7 },
      eval: { every: 5 },
      checkpoint: { every: 7 },
      output: { directory: "/work/outputs/grpo" },
    });
    expect(notices.map((notice) => notice.split(": ")[1]?.split(" ")[0])).toEqual([
      "model.device_map",
      "model.use_flash_attention",
      "model.lora_dropout",
      "model.generation.top_p",
      "output.log_interval",
      "ppo",
    ]);
  });

  test("DPO on a file, SFT with its section, distributed", () => {
    const dpo = parse(`
training: {algorithm: dpo, num_epochs: 20, batch_size: 4, learning_rate: 5.0e-6}
dpo: {beta: 0.1, label_smoothing: 0.0, reference_free: false}
dataset: {type: json, path: data/pairs.jsonl}
model: {model_name_or_path: m, torch_dtype: float16}
distributed: {enabled: true, strategy: fsdp, num_gpus: 4, backend: nccl}
`).config;
    expect(dpo).toMatchObject({
      environments: [],
      stages: [
        {
          learners: {
            policy: {
              algorithm: "dpo",
              options: {
                steps: 20,
                batch_size: 4,
                beta: 0.1,
                label_smoothing: 0,
                reference_free: false,
                data: "data/pairs.jsonl",
              },
            },
          },
        },
      ],
      distributed: { enabled: true, strategy: "fsdp", nproc_per_node: 4, nnodes: 1 },
    });
    const sft = parse(
      "training: {algorithm: sft, num_epochs: 5, batch_size: 8}\nsft: {mode: combined, bc_weight: 0.5}\nmodel: {model_name_or_path: m}\neval_envs: [{env_type: math}]",
    ).config;
    expect(sft.stages[0]?.learners["policy"]?.options).toEqual({
      steps: 5,
      batch_size: 8,
      mode: "combined",
      bc_weight: 0.5,
    });
  });

  test("is checked like the current form: an unknown key is an error with its place and the nearest", () => {
    expect(() => parse("training: {algorithm: ppo}\nppo: {clip_rnage: 0.2}\nmodel: {model_name_or_path: m}")).toThrow(
      '/configs/run.yaml:2:7: unknown key "clip_rnage" in ppo. Did you mean "clip_range"?',
    );
  });

  test("environments of the current form beside legacy eval_envs: the evaluation uses eval_envs", () => {
    const { config } = parse(
      "model: {path: m}\nenvironments: [{id: a}]\nstages: [{algorithm: x}]\neval_envs: [{env_type: b}]",
    );
    expect(config).toMatchObject({ environments: [{ id: "a" }], eval: { environments: [{ id: "b" }] } });
  });

  test("an environment of mode server, which is the policy, is left out with a notice at its place", () => {
    const { config, notices } = parse(
      "model: {path: m}\ntraining: {algorithm: ppo}\neval_envs:\n  - {env_type: a}\n  - {env_type: b, mode: server}",
    );
    expect(config.environments).toMatchObject([{ id: "a" }]);
    expect(notices).toEqual([expect.stringMatching(/run\.yaml:5:5: eval_envs\[1\] has no effect: mode server is/)]);
  });

  test("errors about translated values name the user's key, or the flag that set it", () => {
    const text =
      "training: {algorithm: ppo, batch_size: 8}\nmodel: {path: m, max_new_tokens: 4}\neval_envs: [{env_type: a}]";
    const { source, learnerPath } = parseConfig(text, { path: "run.yaml", overrides: ["training.learning_rate=0.5"] });
    expect(source.locate(["sampling", "max_tokens"], "key")).toBe("run.yaml:2:18");
    expect(source.locate(learnerPath(0, "policy", ["learning_rate"]))).toBe("--set training.learning_rate");
    expect(source.locate(learnerPath(0, "policy", ["missing"]))).toBe(
      "run.yaml:1:11, with --set training.learning_rate",
    );
  });

  test("a configuration in the current form is not changed", () => {
    const { source } = parse("model: {path: m}\nstages: [{algorithm: x}]");
    expect(source.value).toEqual({ model: { path: "m" }, stages: [{ algorithm: "x" }] });
  });
});
