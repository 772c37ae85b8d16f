import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import { definePlugin } from "@mrlm/kit";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import { LocalHost, openRun, parseConfig, PluginHost, prepareRun, RunDirectory, trainRun } from "@mrlm/runtime";
import { duelEnvironment, recordingEngine } from "@mrlm/testing";
import { trainedTokens } from "../play/support/provenance.ts";
import { describeWithEngine } from "./support/engine.ts";
import { startEngine } from "./support/real-engine.ts";

const SHAPE = {
  model_type: "qwen2",
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  max_position_embeddings: 64,
  tie_word_embeddings: true,
};
const RIVAL = { alphabet: "9876543210dcba-+*", tags: [] };

describeWithEngine(
  "a frozen opponent of another size in the engine (skipped where `npm run setup` has not run)",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "mrlm-opponents-"));
    let started: Awaited<ReturnType<typeof startEngine>>;
    beforeAll(async () => {
      started = await startEngine();
      const source = {
        kind: "random",
        seed: 4,
        config: { ...SHAPE, hidden_size: 48, vocab_size: 23, eos_token_id: 1, pad_token_id: 0 },
        tokenizerFiles: characterTokenizerFiles(RIVAL),
      } as const;
      await started.engine.createModel({ model: "rival", role: "policy", trainable: false, source });
      await started.engine.export("rival", join(folder, "rival"));
      await started.engine.releaseModel("rival");
    }, 120_000);
    afterAll(async () => {
      await started?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    test("has its own tokenizer, is in checkpoints, and is released at the end; a resumed run has the same bits", async () => {
      const plugins = await PluginHost.of([
        definePlugin({ name: "test", environments: [duelEnvironment({ rounds: 2 })], algorithms: [grpo] }),
      ]);
      const host = new LocalHost({ source: plugins });
      const config = {
        name: "duel",
        seed: 7,
        model: {
          random: {
            config: { ...SHAPE, hidden_size: 32 },
            tokenizer: { characters: { alphabet: "abcd0123456789" } },
          },
        },
        environments: [{ id: "duel", players: { second: { model: "rival" } } }],
        sampling: { max_tokens: 6 },
        stages: [{ algorithm: "grpo", steps: 4, prompts_per_step: 2, group_size: 4, learning_rate: 0.01 }],
        eval: { tasks: 2, samples: 0 },
        checkpoint: { every: 2, keep: 9 },
        output: join(folder, "runs"),
      };
      const loaded = parseConfig(JSON.stringify(config), { path: join(folder, "run.yaml") });
      const { engine, asked } = recordingEngine(started.engine);
      const prepared = await prepareRun(loaded, { host, algorithms: plugins });
      const { directory } = await trainRun({ prepared, host, engine, isEngineShared: true });
      expect(trainedTokens(asked, "policy")).toEqual({ trained: expect.any(Number), foreign: 0 });
      // Both vocabularies have other sizes: ids of the policy's tokenizer would be out of range, or other letters.
      expect(new Set(asked.samples.map(({ model }) => model))).toEqual(new Set(["policy", "frozen-0"]));
      expect((await engine.describe()).models).toEqual([]);

      const copy = `${directory}-resumed`;
      cpSync(directory, copy, { recursive: true });
      rmSync(join(copy, "model"), { recursive: true });
      const opened = await openRun(join(copy, "checkpoints", "00000002-0"), () => undefined);
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
  },
);
