import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import { definePlugin } from "@mrlm/kit";
import { LocalHost, openRun, parseConfig, PluginHost, prepareRun, RunDirectory, trainRun } from "@mrlm/runtime";
import type { Credit } from "@mrlm/spec";
import { recordingEngine } from "@mrlm/testing";
import { trainedTokens } from "../play/support/provenance.ts";
import { team } from "../play/support/team-environment.ts";
import { describeWithEngine } from "./support/engine.ts";
import { startEngine } from "./support/real-engine.ts";

describeWithEngine("agents of a role with many in the engine (skipped where `npm run setup` has not run)", () => {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-sub-agents-"));
  let started: Awaited<ReturnType<typeof startEngine>>;
  beforeAll(async () => {
    started = await startEngine();
  }, 120_000);
  afterAll(async () => {
    await started?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("learn from shared rewards at their own tokens alone; a resumed run has the same bits", async () => {
    const plugins = await PluginHost.of([definePlugin({ name: "test", environments: [team], algorithms: [grpo] })]);
    const host = new LocalHost({ source: plugins });
    const config = {
      name: "team",
      seed: 7,
      model: {
        random: {
          config: {
            model_type: "qwen2",
            hidden_size: 32,
            intermediate_size: 64,
            num_hidden_layers: 2,
            num_attention_heads: 2,
            num_key_value_heads: 1,
            max_position_embeddings: 64,
            tie_word_embeddings: true,
          },
          tokenizer: { characters: { alphabet: "abcd0123456789" } },
        },
      },
      environments: [{ id: "team", reward_sharing: { helper: { helper: 1, lead: 0.5 } } }],
      sampling: { max_tokens: 6 },
      stages: [{ algorithm: "grpo", steps: 2, prompts_per_step: 2, group_size: 4, learning_rate: 0.01 }],
      eval: { tasks: 2, samples: 0 },
      checkpoint: { every: 1, keep: 9 },
      output: join(folder, "runs"),
    };
    const loaded = parseConfig(JSON.stringify(config), { path: join(folder, "run.yaml") });
    const { engine, asked } = recordingEngine(started.engine);
    const credits: Credit[] = [];
    const prepared = await prepareRun(loaded, { host, algorithms: plugins });
    const { directory } = await trainRun({
      prepared,
      host,
      engine,
      isEngineShared: true,
      onEvent: (event) => event.kind === "iteration" && credits.push(...(event.report.credits ?? [])),
    });
    expect(trainedTokens(asked, "policy")).toEqual({ trained: expect.any(Number), foreign: 0 });
    expect(new Set(credits.map(({ agent }) => agent))).toEqual(new Set(["lead", "helper#1", "helper#2", "helper#3"]));
    expect(credits.some(({ agent, advantage }) => agent !== "lead" && advantage !== 0)).toBe(true);

    const reader = RunDirectory.open(directory).readEpisodes();
    const stored = reader
      ?.find({ order: "newest", limit: 999 })
      .filter(({ stage }) => stage === "grpo")
      .flatMap(({ trajectory }) => Object.values(trajectory.agents));
    reader?.close();
    const helpers = stored?.filter(({ role }) => role === "helper") ?? [];
    expect(helpers.length).toBeGreaterThan(8);
    for (const { shared } of helpers) expect(Object.values(shared?.weights ?? {})).toEqual([0.5, 1]);

    const copy = `${directory}-resumed`;
    cpSync(directory, copy, { recursive: true });
    rmSync(join(copy, "model"), { recursive: true });
    const opened = await openRun(join(copy, "checkpoints", "00000001-0"), () => undefined);
    await trainRun({
      prepared: await prepareRun(opened.loaded, { host, algorithms: plugins }),
      host,
      engine,
      isEngineShared: true,
      run: RunDirectory.open(copy),
      checkpoint: opened.checkpoint as NonNullable<typeof opened.checkpoint>,
    });
    const weights = (run: string) => readFileSync(join(run, "model", "model.safetensors"));
    expect(weights(copy).equals(weights(directory))).toBe(true);
  }, 120_000);
});
