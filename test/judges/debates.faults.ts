import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import type { RecordedRow } from "@mrlm/kit/learning";
import { startChatServer } from "@mrlm/testing";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm, run } from "../e2e/support/mrlm.ts";
import { startEngine } from "../e2e/support/real-engine.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { verdictByLength } from "./support/verdict-by-length.ts";

const EPISODES = 12;
const ALPHABET = `${Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("")}\n`;
/** Shape of about one million parameters. */
const SHAPE = {
  model_type: "qwen2",
  hidden_size: 128,
  intermediate_size: 512,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 8192,
  tie_word_embeddings: true,
};

describeWithEngine(
  "a random model of one million parameters debates (skipped where `npm run setup` has not run)",
  () => {
    const folder = temporaryDirectory();
    const model = join(folder, "debater");
    let server: Mrlm;
    let baseUrl: string;

    beforeAll(async () => {
      const started = await startEngine();
      try {
        const tokenizerFiles = characterTokenizerFiles({ alphabet: ALPHABET });
        const { vocabSize } = chatRenderer({ tokenizerFiles, eosTokenIds: [1] });
        const config = { ...SHAPE, vocab_size: vocabSize, eos_token_id: 1, pad_token_id: 0 };
        const source = { kind: "random", seed: 0, config, tokenizerFiles } as const;
        await started.engine.createModel({ model: "debater", role: "policy", trainable: false, source });
        await started.engine.export("debater", model);
      } finally {
        await started.stop();
      }
      server = new Mrlm(["serve", "--model", model, "--port", "0", "--json"]);
      const { address } = (await server.event(({ event }) => event === "listening")) as unknown as {
        readonly address: string;
      };
      baseUrl = `http://${address}/v1`;
    }, 180_000);
    afterAll(async () => {
      server.child.kill("SIGTERM");
      await server.finished;
      rmSync(folder, { recursive: true, force: true });
    });

    /** Plays debates of six turns for each side, judged by a model behind an endpoint. */
    async function debates(
      name: string,
      flags: readonly string[],
      judge: { readonly base_url: string; readonly model: string },
    ) {
      const [config, output] = [join(folder, `${name}.yaml`), join(folder, `${name}.jsonl`)];
      writeFileSync(
        config,
        JSON.stringify({
          model: { path: model },
          environments: [{ id: "debate", options: { judge: "llm@2", max_characters: 400 } }],
          plugins: { "@mrlm/judge-llm": { endpoint: { ...judge, max_retries: 0, json: "text" }, max_tokens: 40 } },
          sampling: { max_tokens: 16 },
          stages: [{ algorithm: "grpo", steps: 1 }],
        }),
      );
      const { code, stderr, events } = await run(
        [
          "collect",
          "--json",
          "--environment",
          "debate",
          "--config",
          config,
          "-n",
          String(EPISODES),
          "-o",
          output,
          ...flags,
        ],
        { OPENAI_API_KEY: "none" },
      );
      expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      const rows = readFileSync(output, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as RecordedRow);
      expect(rows).toHaveLength(2 * EPISODES);
      for (const { role, turns, messages } of rows) {
        expect([role, turns.length]).toEqual([expect.stringMatching(/^(pro|con)$/), 6]);
        expect(messages.filter((message) => message.role === "assistant")).toHaveLength(6);
      }
      return { rows, collection: events.find(({ event }) => event === "collection") };
    }

    const ways: Readonly<Record<string, () => readonly string[]>> = {
      "behind the policy server, over HTTP": () => [
        ...["--model", "openai:debater", "--base-url", baseUrl, "--model-options", '{"on_empty": "answer"}'],
      ],
      "in an engine, over gRPC": () => ["--model", model],
    };

    test.each(Object.keys(ways))(
      `${EPISODES} debates, %s, judged by itself: each one is unscored and counted`,
      async (way) => {
        const flags = ways[way]?.() ?? [];
        const { rows, collection } = await debates(`self-${way.length}`, flags, {
          base_url: baseUrl,
          model: "debater",
        });
        expect(collection).toMatchObject({ episodes: EPISODES, failed: 0, unscored: 2 * EPISODES });
        for (const { reward, unscored, judgements } of rows) {
          expect(`${reward} ${unscored?.code} ${unscored?.message}`).toMatch(
            /^null (?:JUDGE_UNREADABLE|ENDPOINT_TIMEOUT|DEADLINE_EXCEEDED)/,
          );
          expect(judgements).toMatchObject([{ judge: "llm@2", step: 11, reward: null }]);
        }
      },
      600_000,
    );

    test.each(Object.keys(ways))(
      `${EPISODES} debates, %s, judged by a scripted endpoint: each one has its reward`,
      async (way) => {
        const judge = await startChatServer(({ body }) =>
          verdictByLength(body.messages.map(({ content }) => content).join("\n")),
        );
        try {
          const flags = ways[way]?.() ?? [];
          const { rows, collection } = await debates(`scripted-${way.length}`, flags, {
            base_url: judge.baseUrl,
            model: "judge",
          });
          expect(collection).toMatchObject({ episodes: EPISODES, failed: 0, unscored: 0 });
          expect(judge.requests).toHaveLength(2 * EPISODES);
          for (const { role, reward, judgements } of rows) {
            const [judged] = judgements ?? [];
            expect(judged?.verdict).toMatch(/^(pro|con)$/);
            expect(reward).toBe(judged?.verdict === role ? 1 : -1);
          }
          expect(new Set(rows.map(({ judgements }) => judgements?.[0]?.verdict)).size).toBe(2);
          expect(rows.reduce((sum, { reward }) => sum + (reward as number), 0)).toBe(0);
        } finally {
          await judge.close();
        }
      },
      600_000,
    );
  },
);
