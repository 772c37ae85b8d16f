import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { scoredTurns } from "@mrlm/kit/learning";
import { BigramEngine } from "@mrlm/testing";
import { type Served, served, testRenderer } from "./support/served.ts";

const POSITIONS = 200;
const renderer = testRenderer();
const engine = new BigramEngine({ deterministic: false });
let server: Served;

beforeAll(async () => {
  const config = { vocab_size: renderer.vocabSize, max_position_embeddings: POSITIONS, initializer_range: 1 };
  const source = { kind: "random", config: { ...config, eos_token_id: 1 }, seed: 1, tokenizerFiles: {} } as const;
  await engine.createModel({ model: "policy", role: "policy", trainable: true, valueHead: true, source });
  // The values of a new head are 0: one step gives them other values.
  const tokens = Int32Array.from({ length: renderer.vocabSize }, (_, token) => token);
  await engine.forwardBackward({
    model: "policy",
    units: [{ sequences: [{ tokens, mask: tokens.map((_, t) => Number(t > 0)) as unknown as Uint8Array }] }],
    outputs: { value: true },
    normalizer: 1,
    loss: (_, { value }) => ({ value: (value ?? new Float32Array()).map((_each, t) => t + 1) }),
  });
  await engine.optimStep({ model: "policy", learningRate: 1, beta1: 0, beta2: 0, epsilon: 1e3, weightDecay: 0 });
  server = await served({ engine, policies: [{ id: "bigram", engine, model: "policy", renderer }] });
});
afterAll(() => server.close());

const question = { role: "user", content: "q" };
const answer = { role: "assistant", content: "yes" };
const ask = (messages: readonly object[], more: object = {}) =>
  server.post("/v1/chat/completions", { model: "bigram-reward", messages, ...more });

/** Scores as the engine computes them. */
async function expected(...texts: string[]): Promise<number[]> {
  const messages = texts.map((text, i) => textMessage(i % 2 === 0 ? "user" : "assistant", text));
  const sequences = scoredTurns(renderer.supervise(messages), POSITIONS);
  const [outputs] = await engine.forward({ model: "policy", units: [{ sequences }], outputs: { value: true } });
  return Array.from(outputs?.value ?? []);
}

describe("a model with a value head", () => {
  test("is also served as a reward model, whose answers are scores of the last message and of those before", async () => {
    const { body } = await ask([question, answer]);
    const [score] = await expected("q", "yes");
    expect(score).not.toBe(0);
    expect(body.choices[0].message.content).toBe(`reward:${score}`);
    const two = await ask([question, answer, question, { role: "assistant", content: "no" }]);
    expect(two.body.choices[0].message.content).toBe(`reward:${(await expected("q", "yes", "q", "no")).join(",")}`);
    const models = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: { id: string }[] };
    expect(models.data.map(({ id }) => id)).toEqual(["bigram", "bigram-reward"]);
  });

  test("scores a conversation that is longer than its positions by its end", async () => {
    const { status, body } = await ask([question, { role: "assistant", content: "y".repeat(3 * POSITIONS) }]);
    expect([status, body.choices[0].message.content]).toEqual([200, expect.stringMatching(/^reward:-?[0-9.e-]+$/)]);
  });

  test.each([
    [[question], {}, "last message"],
    [[question, answer], { stream: true }, "stream"],
    [[question, answer], { n: 2 }, "one score"],
  ])("refuses what has no score: %j %j", async (messages, more, reason) => {
    const { status, body } = await ask(messages, more);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(reason)]);
  });

  test("scores conversations of chat completions only, and still samples under its own id", async () => {
    const completion = await server.post("/v1/completions", { model: "bigram-reward", prompt: "q" });
    expect([completion.status, completion.body.error.param]).toEqual([400, "model"]);
    const chat = await server.post("/v1/chat/completions", { model: "bigram", messages: [question], max_tokens: 4 });
    expect(chat.body.usage.completion_tokens).toBeGreaterThan(0);
  });

  test("a failure of the engine is an error of the request, not a score", async () => {
    const failing = { describe: () => engine.describe(), sampler: (model: string) => engine.sampler(model) };
    const forward = (): Promise<never> => Promise.reject(new Error("the engine is gone"));
    const policies = [{ id: "bigram", engine: { ...failing, forward }, model: "policy", renderer }];
    const other = await served({ policies });
    const { status } = await other.post("/v1/chat/completions", {
      model: "bigram-reward",
      messages: [question, answer],
    });
    expect(status).toBeGreaterThanOrEqual(500);
    await other.close();
  });
});
