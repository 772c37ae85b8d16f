import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { loadConfig, MetricsFile, type ResolvedConfig } from "@mrlm/runtime";
import type { JsonObject } from "@mrlm/spec";
import { describeWithEngine } from "./support/engine.ts";
import { ROOT, run } from "./support/mrlm.ts";
import { sharedEngine } from "./support/shared-engine.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { writeConfig } from "./support/tiny-run.ts";

const output = temporaryDirectory();
const TINY_MODEL = {
  config: {
    model_type: "qwen2",
    hidden_size: 32,
    intermediate_size: 64,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    max_position_embeddings: 512,
    tie_word_embeddings: true,
  },
  tokenizer: { characters: {} },
};
/** Printable characters of ASCII. */
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("");
/** Options that make an iteration of each algorithm small. */
const SMALL = {
  sft: { batch_size: 16 },
  grpo: { prompts_per_step: 3, group_size: 4 },
  ppo: { prompts_per_step: 3, group_size: 4 },
  dpo: { batch_size: 8 },
} as const;

describeWithEngine(
  "the examples train by their own YAML, at tiny size (skipped where `npm run setup` has not run)",
  () => {
    const engine = sharedEngine();

    test.each([
      ["math/grpo.yaml", ["sft", "sft", "grpo", "grpo"]],
      ["math/ppo.yaml", ["sft", "sft", "ppo", "ppo"]],
      ["preferences/preferences.yaml", ["dpo", "dpo"]],
      ["preferences/kto.yaml", ["dpo", "dpo"]],
      ["world-model/world-model.yaml", ["sft", "sft"]],
      ["custom-algorithm/best-of-n.yaml", ["sft", "sft", "best-of-n", "best-of-n"]],
      ["several-environments/mixed.yaml", ["sft", "sft", "grpo", "grpo"]],
      ["vllm/vllm.yaml", ["sft", "sft", "grpo", "grpo"]],
      ["agent/agent.yaml", ["sft", "sft", "grpo", "grpo"]],
    ])(
      "%s",
      async (path, stages) => {
        const { config } = loadConfig(join(ROOT, "examples", path));
        const small = {
          ...config,
          stages: config.stages.map(({ until: _, ...stage }) => ({
            ...stage,
            learners: withOptions(stage, { ...SMALL[stage.name as keyof typeof SMALL], steps: 2 }),
          })),
          eval: { ...config.eval, tasks: Math.min(config.eval.tasks, 4) },
          server: { spawn: false },
          engine: engine(),
        };
        // The file is in the folder of the example, like the YAML.
        const written = writeConfig(
          output,
          { ...small, base_directory: config.base_directory },
          `${path.replaceAll("/", "-")}.yaml`,
        );
        const { events, code, stderr } = await run([
          "train",
          "--json",
          "--config",
          written,
          "--output",
          mkdtempSync(join(output, "run-")),
        ]);
        expect([code, stderr]).toEqual([0, expect.anything()]);
        const rows = new MetricsFile(
          join(events.find(({ event }) => event === "summary")?.["directory"] as string, "metrics.jsonl"),
        ).rows();
        expect(rows.filter(({ kind }) => kind === "iteration").map(({ stage }) => stage)).toEqual(stages);
      },
      300_000,
    );

    test("U18: gsm8k/gsm8k.yaml, with a tiny model and two problems in place of the downloads", async () => {
      const { policies: _, ...config } = loadConfig(join(ROOT, "examples/gsm8k/gsm8k.yaml")).config;
      const problems = [
        ["What is 1 + 1?", 2],
        ["What is 2 + 3?", 5],
        ["What is 4 + 4?", 8],
      ].map(([question, answer]) => `${JSON.stringify({ question, answer: `It is ${answer}.\n#### ${answer}` })}\n`);
      writeFileSync(join(output, "train.jsonl"), problems.join(""));
      const small = {
        ...config,
        model: { random: TINY_MODEL },
        base_directory: output,
        environments: config.environments.map(({ options, ...rest }) => ({
          ...rest,
          options: { ...options, data: { path: "train.jsonl", format: "gsm8k", eval_share: 0.4 } },
        })),
        sampling: { temperature: 1, max_tokens: 4 },
        stages: config.stages.map((stage) => ({ ...stage, learners: withOptions(stage, { ...SMALL.grpo, steps: 1 }) })),
        eval: { tasks: 1 },
        server: { spawn: false },
        engine: engine(),
      };
      const { code, stderr } = await run([
        "train",
        "--json",
        "--config",
        writeConfig(output, small, "gsm8k.yaml"),
        "--output",
        output,
      ]);
      expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
    }, 300_000);

    test("real/arithmetic.yaml: a dry run, then a step of each stage, with a tiny model in place of the download", async () => {
      const { policies: _, ...config } = loadConfig(join(ROOT, "examples/real/arithmetic.yaml")).config;
      const small = {
        ...config,
        model: { random: TINY_MODEL },
        stages: config.stages.map((stage) => ({
          ...stage,
          learners: withOptions(stage, { ...SMALL[stage.name as keyof typeof SMALL], steps: 1 }),
        })),
        eval: { ...config.eval, tasks: 2 },
        server: { spawn: false },
        engine: engine(),
      };
      const args = ["train", "--json", "--config", writeConfig(output, small, "real.yaml"), "--output", output];
      for (const more of [["--dry-run"], []]) {
        const { code, stderr } = await run([...args, ...more]);
        expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
      }
    }, 300_000);

    test("games/debate.yaml, with a tiny model in place of the download", async () => {
      const { policies: _, ...config } = loadConfig(join(ROOT, "examples/games/debate.yaml")).config;
      const small = {
        ...config,
        model: {
          random: {
            config: { ...TINY_MODEL.config, max_position_embeddings: 4096 },
            tokenizer: { characters: { alphabet: `${ASCII}\n\ufffd`, tags: [] } },
          },
        },
        base_directory: output,
        sampling: { ...config.sampling, max_tokens: 4, max_sequence_tokens: 4096 },
        stages: config.stages.map((stage) => ({
          ...stage,
          learners: withOptions(stage, { prompts_per_step: 2, group_size: 2, steps: 2, warmup_steps: 0 }),
        })),
        eval: { ...config.eval, tasks: 2 },
        server: { spawn: false },
        engine: engine(),
      };
      const { events, code, stderr } = await run([
        "train",
        "--json",
        "--config",
        writeConfig(output, small, "debate.yaml"),
        "--output",
        mkdtempSync(join(output, "run-")),
      ]);
      expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
      const summary = events.find(({ event }) => event === "summary");
      const rows = new MetricsFile(join(summary?.["directory"] as string, "metrics.jsonl")).rows();
      expect(rows.filter(({ kind }) => kind === "iteration")).toHaveLength(2);
    }, 300_000);

    test("typescript/train.ts, without YAML", () => {
      const script = `const { job, train } = await import(${JSON.stringify(join(ROOT, "examples/typescript/train.ts"))});
      const stages = job.stages.map((stage) => ({ ...stage, steps: 2 }));
      const { status, steps } = await train({ ...job, stages, eval: { tasks: 4 }, output: ${JSON.stringify(output)} });
      console.log(status, steps);`;
      const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
        cwd: ROOT,
        encoding: "utf8",
        env: { ...process.env, NODE_OPTIONS: "" },
      });
      expect(printed.trim().split("\n").at(-1)).toBe("finished 4");
    }, 300_000);
  },
);

/** Returns the learners of a stage with other options. */
function withOptions({ learners }: ResolvedConfig["stages"][number], changes: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(learners).map(([policy, { algorithm, options }]) => [
      policy,
      { algorithm, options: { ...options, ...changes } },
    ]),
  );
}
