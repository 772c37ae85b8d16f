import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { sft } from "@mrlm/sft";
import { BigramEngine, engineOverGrpc, trainBigram } from "@mrlm/testing";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const directory = temporaryDirectory();

test("M5: a model without a limit of positions, which the wire spells as 0, plays and learns by every kind of data", async () => {
  const [conversations, pairs] = ["conversations.jsonl", "pairs.jsonl"].map((name) => join(directory, name)) as [
    string,
    string,
  ];
  writeFileSync(conversations, JSON.stringify({ prompt: "1", completion: "abab" }));
  writeFileSync(
    pairs,
    ["ab", "abab"].map((chosen) => JSON.stringify({ prompt: "1", chosen, rejected: "dc" })).join("\n"),
  );
  const engine = await engineOverGrpc(new BigramEngine());
  try {
    const { reports } = await trainBigram({
      engine,
      algorithms: [sft, dpo, grpo],
      stages: [
        { algorithm: "sft", steps: 1, batch_size: 2 },
        { algorithm: "sft", steps: 1, batch_size: 1, data: conversations },
        { algorithm: "dpo", steps: 1, batch_size: 2, data: pairs, loss: "kto" },
        { algorithm: "grpo", steps: 1, prompts_per_step: 2, group_size: 2 },
      ],
      config: {
        model: {
          random: {
            config: { initializer_range: 0.5, max_position_embeddings: 0 },
            tokenizer: { characters: { alphabet: "abcd0123456789" } },
          },
        },
      },
    });
    expect(
      reports.map(({ metrics }) => [metrics["optim/grad_norm"] !== undefined, metrics["episodes/failed"] ?? 0]),
    ).toEqual(Array(4).fill([true, 0]));
    expect((await engine.describe()).models[0]?.maxPositions).toBe(Number.POSITIVE_INFINITY);
  } finally {
    await engine.close();
  }
});
