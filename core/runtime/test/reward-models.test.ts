import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { scoredTurns } from "@mrlm/kit/learning";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { RewardModels } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { BigramEngine } from "@mrlm/testing";

const tokenizerFiles = characterTokenizerFiles({ alphabet: "abcd0123" });
const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [] });
const directory = join(mkdtempSync(join(tmpdir(), "mrlm-reward-")), "model");
const conversation = (answer: string) => [textMessage("user", "1"), textMessage("assistant", answer)];

beforeAll(async () => {
  const engine = new BigramEngine();
  const config = {
    vocab_size: renderer.vocabSize,
    eos_token_id: renderer.stopTokenIds[0],
    max_position_embeddings: 64,
  };
  const source = { kind: "random", config, seed: 1, tokenizerFiles } as const;
  await engine.createModel({ model: "scores", role: "policy", source, trainable: true, valueHead: true });
  const tokens = Int32Array.from({ length: renderer.vocabSize }, (_, token) => token);
  const mask = Uint8Array.from(tokens, (_, t) => Number(t > 0));
  await engine.forwardBackward({
    ...{ model: "scores", units: [{ sequences: [{ tokens, mask }] }], outputs: { value: true }, normalizer: 1 },
    loss: [{ value: Float32Array.from({ length: tokens.length - 1 }, (_, t) => t + 1) }],
  });
  await engine.optimStep({ model: "scores", learningRate: 1, beta1: 0, beta2: 0, epsilon: 1e3, weightDecay: 0 });
  await engine.export("scores", directory);
});

/** Engine that counts its passes. */
function counted(engine = new BigramEngine()) {
  const batches: number[] = [];
  const counting = Object.assign(Object.create(engine) as BigramEngine, {
    describe: () => engine.describe(),
    createModel: (options: Parameters<BigramEngine["createModel"]>[0]) => engine.createModel(options),
    readTokenizer: (model: string) => engine.readTokenizer(model),
    forward: (options: Parameters<BigramEngine["forward"]>[0]) => {
      batches.push(options.units.length);
      return engine.forward(options);
    },
  });
  return { engine: counting, batches };
}

test("a model is loaded once, as a frozen reward model, and conversations at once share passes", async () => {
  const { engine, batches } = counted();
  let opened = 0;
  const models = new RewardModels(async () => (opened++, { engine, close: async () => undefined }));
  const texts = ["a", "ab", "abc", "dd", "b"];
  const scores = await Promise.all(texts.map((text) => models.model(directory).score(conversation(text))));
  expect([opened, batches.reduce((sum, units) => sum + units, 0), batches.length]).toEqual([1, 5, expect.any(Number)]);
  expect(batches.length).toBeLessThan(5);
  const { models: held } = await engine.describe();
  expect(held).toMatchObject([{ role: "reward", trainableParameters: 0, hasValueHead: true }]);
  const units = texts.map((text) => ({ sequences: scoredTurns(renderer.supervise(conversation(text))) }));
  const outputs = await engine.forward({ model: held[0]?.model as string, units, outputs: { value: true } });
  expect(scores).toEqual(outputs.map(({ value }) => Array.from(value ?? [])));
  expect(scores[0]?.[0]).not.toBe(0);
});

test("a model that the engine holds, as after a resumption, is used and not loaded again", async () => {
  const { engine } = counted();
  const open = async () => ({ engine, close: async () => undefined });
  const first = await new RewardModels(open).model(directory).score(conversation("a"));
  expect(await new RewardModels(open).model(directory).score(conversation("a"))).toEqual(first);
  expect((await engine.describe()).models).toHaveLength(1);
});

test("a conversation that is longer than the model is scored by its end, and one without an answer is refused", async () => {
  const { engine } = counted();
  const model = new RewardModels(async () => ({ engine, close: async () => undefined })).model(directory);
  const long = await model.score(conversation("a".repeat(300)));
  expect([long.length, Number.isFinite(long[0])]).toEqual([1, true]);
  await expect(model.score([textMessage("user", "1")])).rejects.toMatchObject({ code: "DATA_INVALID" });
});

test("a failure rejects each score that waits, and the next score tries again", async () => {
  const { engine } = counted();
  let fails = true;
  const models = new RewardModels(async () => {
    if (fails) throw new MrlmError("ENGINE_UNAVAILABLE", "not yet");
    return { engine, close: async () => undefined };
  });
  const both = await Promise.allSettled([0, 1].map(() => models.model(directory).score(conversation("a"))));
  expect(both).toMatchObject([0, 1].map(() => ({ status: "rejected", reason: { code: "ENGINE_UNAVAILABLE" } })));
  fails = false;
  expect(await models.model(directory).score(conversation("a"))).toHaveLength(1);
  const forward = engine.forward.bind(engine);
  engine.forward = () => Promise.reject(new MrlmError("ENGINE_FAILED", "it ended"));
  await expect(models.model(directory).score(conversation("a"))).rejects.toMatchObject({ code: "ENGINE_FAILED" });
  engine.forward = forward;
  expect(await models.model(directory).score(conversation("a"))).toHaveLength(1);
});
