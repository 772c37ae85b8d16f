/**
 * Training from TypeScript, without YAML and without the command: SFT, then GRPO.
 *
 *     npx node examples/typescript/train.ts
 */
import { connectEngine } from "@mrlm/client";
import { launchEngine } from "@mrlm/engine-torch";
import mathPlugin from "@mrlm/environment-math";
import grpoPlugin from "@mrlm/grpo";
import { LocalHost, parseConfig, PluginHost, prepareRun, type RunSummary, trainRun } from "@mrlm/runtime";
import scorerMathPlugin from "@mrlm/scorer-math";
import sftPlugin from "@mrlm/sft";

/** Configuration of the run: the keys of a YAML file, with the same checks. */
export const job = {
  name: "typescript",
  model: {
    random: {
      config: {
        model_type: "qwen2",
        hidden_size: 64,
        intermediate_size: 256,
        num_hidden_layers: 2,
        num_attention_heads: 4,
        num_key_value_heads: 2,
        max_position_embeddings: 64,
        tie_word_embeddings: true,
      },
      tokenizer: { characters: { alphabet: " 0123456789abcdefghijklmnopqrstuvwxyz", tags: ["<answer>", "</answer>"] } },
    },
  },
  environments: [{ id: "math@2", options: { families: ["ordering"], difficulty_range: 1, style: "terse" } }],
  sampling: { temperature: 1, max_tokens: 8 },
  stages: [
    { algorithm: "sft", steps: 60, batch_size: 64, learning_rate: 3e-3 },
    { algorithm: "grpo", steps: 20, prompts_per_step: 16, group_size: 8, learning_rate: 3e-4 },
  ],
  eval: { tasks: 100 },
};

/** Trains, and prints what each iteration brought. */
export async function train(config: object = job): Promise<RunSummary> {
  const plugins = await PluginHost.of([mathPlugin, scorerMathPlugin, sftPlugin, grpoPlugin]);
  const host = new LocalHost({ source: plugins });
  const prepared = await prepareRun(parseConfig(JSON.stringify(config, undefined, 2), { path: "job, as JSON" }), {
    host,
    algorithms: plugins,
  });
  const process = await launchEngine({ device: "auto", threads: 1 });
  const engine = await connectEngine(process.address, { token: process.token });
  try {
    return await trainRun({
      prepared,
      host,
      engine,
      onEvent: (event) => {
        if (event.kind === "iteration") {
          const { iteration, metrics } = event.report;
          const name = "reward/mean" in metrics ? "reward/mean" : "loss/nll";
          // A mean is kept as a sum and a count, so that it does not depend on how a batch was split.
          const metric = metrics[name];
          console.log(
            event.name,
            iteration,
            name,
            (typeof metric === "object" ? metric.sum / metric.count : metric)?.toFixed(3),
          );
        }
        if (event.kind === "evaluation")
          console.log(
            "evaluation",
            event.label,
            "greedy accuracy",
            event.results[0]?.greedy.accuracy,
            "sampled reward",
            event.results[0]?.sampled?.reward,
          );
      },
    });
  } finally {
    await engine.close();
    await process.stop();
    await host.close();
  }
}

if (import.meta.main) console.log((await train()).directory);
