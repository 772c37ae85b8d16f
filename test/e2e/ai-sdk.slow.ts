import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createMrlm, type MrlmMetadata } from "@mrlm/ai-sdk";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import { APICallError, generateText, streamText } from "ai";
import { Mrlm } from "./support/mrlm.ts";
import { installed, startEngine } from "./support/real-engine.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();
const tokenizerFiles = characterTokenizerFiles({ alphabet: " 0123456789abcdefghijklmnopqrstuvwxyz" });
const config = {
  model_type: "qwen2",
  vocab_size: 45,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  max_position_embeddings: 128,
  initializer_range: 0.3,
  tie_word_embeddings: true,
  eos_token_id: 1,
};
const metadataOf = (metadata: unknown): MrlmMetadata => (metadata as { mrlm: MrlmMetadata }).mrlm;

// Skipped where the engine's Python environment is not installed (npm run setup).
(installed === undefined ? describe.skip : describe)("a policy that mrlm serves, in the AI SDK", () => {
  let server: Mrlm;
  let baseURL: string;
  beforeAll(async () => {
    const { engine, stop } = await startEngine();
    const model = join(folder, "small");
    mkdirSync(model);
    const source = { kind: "random", config, seed: 1, tokenizerFiles } as const;
    await engine.createModel({ model: "policy", role: "policy", trainable: true, source });
    await engine.export("policy", model);
    await stop();
    const token = join(folder, "token");
    writeFileSync(token, "secret-token");
    server = new Mrlm(["serve", "--model", model, "--port", "0", "--json", "--token-file", token]);
    const { address } = await server.event(({ event }) => event === "listening");
    baseURL = `http://${String(address)}/v1`;
  }, 120_000);
  afterAll(async () => {
    server.child.kill("SIGTERM");
    expect(await server.finished).toMatchObject({ code: 0, signal: null });
  });
  const small = (apiKey = "secret-token") => createMrlm({ baseURL, apiKey })("small");
  const ask = { prompt: "count", seed: 5, maxOutputTokens: 30 };

  test("whole and streamed, an answer has its tokens, log-probabilities and weight version", async () => {
    const whole = await generateText({ model: small(), ...ask });
    const stream = streamText({ model: small(), ...ask });
    expect(await stream.text).toBe(whole.text);
    const { promptTokenIds, tokenIds, logprobs, weightVersions } = metadataOf(whole.providerMetadata);
    expect(metadataOf(await stream.providerMetadata)).toMatchObject({ promptTokenIds, tokenIds, weightVersions });
    expect(promptTokenIds).toHaveLength(whole.usage.inputTokens ?? 0);
    expect(tokenIds).toHaveLength(whole.usage.outputTokens ?? 0);
    expect(weightVersions).toEqual([{ version: expect.any(Number), start: 0, end: tokenIds.length }]);
    expect(logprobs).toHaveLength(tokenIds.length);
    for (const logprob of logprobs) expect(logprob).toBeLessThanOrEqual(0);
    expect(await stream.usage).toMatchObject({ outputTokens: tokenIds.length });
  });

  test("another key is refused with the message of the server", async () => {
    const failed = await generateText({ model: small("another"), ...ask }).catch((error: unknown) => error);
    expect(APICallError.isInstance(failed)).toBe(true);
    expect(failed).toMatchObject({ statusCode: 401, isRetryable: false });
  });
});
