import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import type { JsonObject, JsonValue, Mean } from "@mrlm/spec";
import { type BigramOutcome, trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { sft } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-sft-"));
const fileOf = (...rows: JsonValue[]): string => {
  const path = join(folder, `${Math.random()}.jsonl`);
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  return path;
};
const training = (options: JsonObject = {}, config: JsonObject = {}) => ({
  algorithms: [sft],
  stages: [{ algorithm: "sft", steps: 6, batch_size: 8, learning_rate: 0.1, lr_schedule: "linear", ...options }],
  config,
});
const nll = ({ reports }: BigramOutcome): number[] => reports.map(({ metrics }) => (metrics["loss/nll"] as Mean).sum / (metrics["loss/nll"] as Mean).count);

describe("sft on a bigram model", () => {
  test.each(["token_mean", "sequence_mean"])("the loss falls on the environment's demonstrations: %s", async (aggregation) => {
    const losses = nll(await trainBigram(training({ aggregation, steps: 12, learning_rate: 0.3 })));
    expect(losses.at(-1)).toBeLessThan((losses[0] as number) * 0.6);
  });

  test("learns the conversations of a file, every turn of them", async () => {
    const data = fileOf(
      { prompt: "1", completion: "abab" },
      { messages: [{ role: "user", content: "1" }, { role: "assistant", content: "cd" }, { role: "user", content: "2" }, { role: "assistant", content: "cd" }] },
    );
    const outcome = await trainBigram(training({ data, batch_size: 2, steps: 12, learning_rate: 0.3 }));
    // Five tokens of the first (its stop token with them) and twice three of the second.
    expect(outcome.reports[0]?.metrics).toMatchObject({ "tokens/target": 11, "data/epoch": 1 });
    expect(nll(outcome).at(-1)).toBeLessThan((nll(outcome)[0] as number) * 0.6);
  });

  test("numerics 1, 7: weights and metrics are the same for every split into micro-batches", async () => {
    const model = { random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } } };
    const [one, ...others] = await Promise.all([6, 50, 100_000].map((micro_batch_tokens) => trainBigram(training({}, { model: { ...model, micro_batch_tokens } }))));
    for (const other of others) {
      expect(other.weights).toEqual(one?.weights);
      expect(other.reports).toEqual(one?.reports);
    }
  });

  test("numerics 52, 56: the same seed is the same run, killed or not", async () => {
    const whole = await trainBigram(training());
    expect((await trainBigram(training())).weights).toEqual(whole.weights);
    const resumed = await trainBigramInterrupted(training(), 4);
    expect(resumed.weights).toEqual(whole.weights);
    expect(resumed.reports.map(({ metrics }) => metrics)).toEqual(whole.reports.slice(3).map(({ metrics }) => metrics));
  });

  test("a row that is no conversation is refused with its line before training begins", async () => {
    const data = fileOf({ prompt: "1", completion: "a" }, { question: "1" });
    await expect(trainBigram(training({ data }))).rejects.toMatchObject({ code: "DATA_INVALID", message: expect.stringMatching(/jsonl:2 is neither/) });
  });
});
