import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import type { EngineUnit, UnitGradients, UnitOutputs } from "@mrlm/spec";
import type { CreateModelOptions, Engine, SampleResult } from "@mrlm/spec/host";
import { Mrlm } from "./support/mrlm.ts";
import { type EngineSection, installed, startEngine } from "./support/real-engine.ts";
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
const policy = (model: string): CreateModelOptions => ({
  model,
  role: "policy",
  trainable: true,
  source: { kind: "random", config, seed: 1, tokenizerFiles },
});

/** Trains for some steps, each with a wave of samples. @returns samples and gradient norms, with every bit */
async function train(
  engine: Engine,
  model: string,
  onPublished: (version: number) => Promise<void> = async () => undefined,
): Promise<{ samples: SampleResult[][]; norms: number[]; version: number }> {
  const sampler = await engine.sampler(model);
  const samples: SampleResult[][] = [];
  const norms: number[] = [];
  let version = 0;
  for (let step = 0; step < 6; step++) {
    const params = { temperature: 1, maxTokens: 40, stopTokenIds: [1] };
    const wave = Array.from({ length: 8 }, (_, i) =>
      sampler.sample({ prompt: Int32Array.of(3, 10 + i, 4), params, key: BigInt(step * 100 + i) }),
    );
    sampler.barrier();
    samples.push(await Promise.all(wave));
    const units: EngineUnit[] = (samples.at(-1) as SampleResult[]).map(({ tokens }) => {
      const all = Int32Array.of(3, ...tokens);
      return { sequences: [{ tokens: all, mask: Uint8Array.from(all, (_, t) => Number(t > 0)) }] };
    });
    const loss = (_: number, { logprob }: UnitOutputs): UnitGradients => ({
      logprob: (logprob as Float32Array).map(() => -1),
    });
    await engine.forwardBackward({ model, units, outputs: { logprob: true }, normalizer: 100, loss });
    norms.push((await engine.optimStep({ model, learningRate: 1e-2 })).gradNorm);
    ({ version } = await engine.publish(model));
    await onPublished(version);
  }
  await sampler.close();
  return { samples, norms, version };
}

interface ChatAnswer {
  readonly system_fingerprint: string;
  readonly choices: readonly unknown[];
}

async function chat(
  address: unknown,
  { content, n = 1 }: { readonly content: string; readonly n?: number },
): Promise<ChatAnswer> {
  const body = { model: "policy", messages: [{ role: "user", content }], max_tokens: 20, n };
  const response = await fetch(`http://${String(address)}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as ChatAnswer;
}

// Skipped where the engine's Python environment is not installed (npm run setup).
(installed === undefined ? describe.skip : describe)("a policy of the PyTorch engine", () => {
  let engine: Engine;
  let section: EngineSection;
  let stop: () => Promise<void>;
  beforeAll(async () => ({ engine, section, stop } = await startEngine()), 120_000);
  afterAll(() => stop());

  test("training computes the same bits while its live engine serves, and answers follow each publication", async () => {
    await engine.createModel(policy("policy"));
    const alone = await train(engine, "policy");
    await engine.releaseModel("policy");
    await engine.createModel(policy("policy"));
    const server = new Mrlm([
      "serve",
      "--engine",
      section.address,
      "--engine-token-file",
      section.token_file,
      "--port",
      "0",
      "--json",
    ]);
    const { address, models } = await server.event(({ event }) => event === "listening");
    expect(models).toEqual(["policy"]);
    const training = new AbortController();
    const clients = Array.from({ length: 4 }, async (_, i) => {
      while (!training.signal.aborted) {
        const answer = await chat(address, { content: `count ${i}`, n: 2 });
        expect(answer.choices).toHaveLength(2);
      }
    });
    const served = await train(engine, "policy", async (version) => {
      expect((await chat(address, { content: "a" })).system_fingerprint).toBe(`weights-${version}`);
    });
    training.abort();
    await Promise.all(clients);
    expect(served).toEqual(alone);
    const scored = await fetch(`http://${String(address)}/v1/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "policy", prompt: "12 ab", echo: true, max_tokens: 0, logprobs: 0 }),
    });
    const { choices } = (await scored.json()) as { choices: { logprobs: { token_logprobs: number[] } }[] };
    expect(choices[0]?.logprobs.token_logprobs).toHaveLength(5);
    server.child.kill("SIGTERM");
    expect(await server.finished).toMatchObject({ code: 0, signal: null });
    // The server has sent no numbered call: the trainer's next one is in order.
    expect((await engine.publish("policy")).version).toBe(served.version + 1);
  });

  test("mrlm serve --model starts an engine without waves, by whose end it drains", async () => {
    const model = join(folder, "small");
    mkdirSync(model);
    await engine.createModel(policy("exported"));
    await engine.export("exported", model);
    writeFileSync(join(folder, "token"), "secret-token");
    const server = new Mrlm([
      "serve",
      "--model",
      model,
      "--port",
      "0",
      "--json",
      "--token-file",
      join(folder, "token"),
    ]);
    const { address, models } = await server.event(({ event }) => event === "listening");
    expect(models).toEqual(["small"]);
    const post = (body: object, route = "chat/completions"): Promise<Response> =>
      fetch(`http://${String(address)}/v1/${route}`, {
        method: "POST",
        headers: route === "messages" ? { "x-api-key": "secret-token" } : { authorization: "Bearer secret-token" },
        body: JSON.stringify({ model: "small", messages: [{ role: "user", content: "count" }], ...body }),
      });
    // The answers join and leave one batch: each is as in a request of its own.
    const texts = async (n: number): Promise<string[]> => {
      const { choices } = (await (await post({ max_tokens: 30, seed: 5, n })).json()) as {
        choices: { message: { content: string } }[];
      };
      return choices.map(({ message }) => message.content);
    };
    const [text] = await texts(1);
    expect((await texts(4))[0]).toBe(text);
    const { content } = (await (await post({ max_tokens: 30, seed: 5 }, "messages")).json()) as {
      content: { text: string }[];
    };
    expect(content.map((block) => block.text).join("")).toBe(text);
    const pending = post({ max_tokens: 100, ignore_eos: true, stream: true });
    const response = await pending;
    server.child.kill("SIGTERM");
    expect(await response.text()).toContain("[DONE]");
    expect(await server.finished).toMatchObject({ code: 0, signal: null });
  });
});
