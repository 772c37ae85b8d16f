import { describe, expect, test } from "@jest/globals";
import { routedEngine } from "@mrlm/client";
import type { CreateModelOptions, Sampler } from "@mrlm/spec/host";
import { BigramEngine, engineContract, engineOverGrpc } from "../src/index.ts";

const model: CreateModelOptions = {
  model: "policy",
  role: "policy",
  trainable: true,
  valueHead: true,
  source: {
    kind: "random",
    config: { vocab_size: 8, eos_token_id: 0, initializer_range: 1 },
    seed: 1,
    tokenizerFiles: {},
  },
};

engineContract({ name: "the bigram engine", make: async () => new BigramEngine(), model });
engineContract({ name: "the bigram engine over gRPC", make: () => engineOverGrpc(new BigramEngine()), model });
for (const models of [["policy"], ["other", "headless"]])
  engineContract({
    name: `two engines, the second with ${models.join(" and ")}`,
    make: async () =>
      routedEngine([
        { name: "main", engine: new BigramEngine(), models: [] },
        { name: "second", engine: new BigramEngine(), models },
      ]),
    model,
  });

describe("the contract catches an engine that", () => {
  /** Returns the names of the tests that an engine fails. */
  async function failuresOf(make: () => BigramEngine): Promise<string[]> {
    const tests: [string, () => Promise<void>][] = [];
    engineContract({
      name: "it",
      make: async () => make(),
      model,
      registry: { describe: (_name, body) => body(), test: (name, body) => tests.push([name, body]) },
    });
    const failed: string[] = [];
    for (const [name, body] of tests) await body().catch(() => failed.push(name));
    return failed;
  }

  test("takes a mean of its own", async () => {
    class Averaging extends BigramEngine {
      override accumulate(options: Parameters<BigramEngine["accumulate"]>[0]): ReturnType<BigramEngine["accumulate"]> {
        return super.accumulate({ ...options, normalizer: options.normalizer * options.units.length ** 2 });
      }
    }
    expect(await failuresOf(() => new Averaging())).toContain(
      "a small step along the gradient lowers the loss by rate x norm²",
    );
  });

  test("forgets the temperature when it evaluates", async () => {
    class Unscaled extends BigramEngine {
      override forward(options: Parameters<BigramEngine["forward"]>[0]): ReturnType<BigramEngine["forward"]> {
        return super.forward({ ...options, temperature: 1 });
      }
    }
    expect(await failuresOf(() => new Unscaled())).toEqual([
      "log-probabilities are those of an evaluation (numerics 14, 15)",
    ]);
  });

  test.each([0, 2])("sends each streamed token %d times", async (times) => {
    class Repeating extends BigramEngine {
      override async sampler(id: string): Promise<Sampler> {
        const inner = await super.sampler(id);
        return {
          sample: (request, { onTokens, ...options } = {}) =>
            inner.sample(request, {
              ...options,
              ...(onTokens && { onTokens: (chunk) => Array.from({ length: times }).forEach(() => onTokens(chunk)) }),
            }),
          barrier: () => inner.barrier(),
          close: () => inner.close(),
        };
      }
    }
    expect(await failuresOf(() => new Repeating())).toEqual([
      "onTokens receives the tokens of its sequence, and changes no other",
    ]);
  });

  test("never delivers weights to its sampler", async () => {
    class Undelivered extends BigramEngine {
      #version = 0;
      override async publish(id: string): ReturnType<BigramEngine["publish"]> {
        const { models } = await this.describe();
        return { version: ++this.#version, checksum: `${id} ${models[0]?.step}`, seconds: 0 };
      }
    }
    expect(await failuresOf(() => new Undelivered())).toContain("only published weights are sampled (numerics 49)");
  });
});
