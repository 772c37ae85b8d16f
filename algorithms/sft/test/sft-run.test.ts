import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type JsonObject, type JsonValue, type Mean, type SupervisedSequence, textMessage } from "@mrlm/kit/learning";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import {
  BigramEngine,
  type BigramOutcome,
  lettersEnvironment,
  trainBigram,
  trainBigramInterrupted,
} from "@mrlm/testing";
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
const nll = ({ reports }: BigramOutcome): number[] =>
  reports.map(({ metrics }) => (metrics["loss/nll"] as Mean).sum / (metrics["loss/nll"] as Mean).count);

describe("sft on a bigram model", () => {
  test.each(["token_mean", "sequence_mean"])(
    "the loss falls on the environment's demonstrations: %s",
    async (aggregation) => {
      const losses = nll(await trainBigram(training({ aggregation, steps: 12, learning_rate: 0.3 })));
      expect(losses.at(-1)).toBeLessThan((losses[0] as number) * 0.6);
    },
  );

  test("learns the conversations of a file, every turn of them", async () => {
    const data = fileOf(
      { prompt: "1", completion: "abab" },
      {
        messages: [
          { role: "user", content: "1" },
          { role: "assistant", content: "cd" },
          { role: "user", content: "2" },
          { role: "assistant", content: "cd" },
        ],
      },
    );
    const outcome = await trainBigram(training({ data, batch_size: 2, steps: 12, learning_rate: 0.3 }));
    // Five tokens of the first (its stop token with them) and twice three of the second.
    expect(outcome.reports[0]?.metrics).toMatchObject({ "tokens/target": 11, "data/epoch": 1 });
    expect(nll(outcome).at(-1)).toBeLessThan((nll(outcome)[0] as number) * 0.6);
  });

  test("numerics 1, 7: weights and metrics are the same for every split into micro-batches", async () => {
    const model = {
      random: { config: { initializer_range: 0.5 }, tokenizer: { characters: { alphabet: "abcd0123456789" } } },
    };
    const [one, ...others] = await Promise.all(
      [6, 50, 100_000].map((micro_batch_tokens) =>
        trainBigram(training({}, { model: { ...model, micro_batch_tokens } })),
      ),
    );
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

  describe("M6: conversations without a token to learn", () => {
    const shown = (task: string): number => Number(task.split("/")[1]);
    const demonstrating = (answer: (index: number) => string) => ({
      ...lettersEnvironment(),
      demonstrate: async (_context: unknown, _options: unknown, task: `${string}/${number}`) => ({
        task,
        agent: "agent",
        messages: [textMessage("user", "1"), textMessage("assistant", answer(shown(task)))],
      }),
    });
    // Seven tokens with the template's marks; an odd task has more.
    const options = { batch_size: 1, max_length: 7, on_overlong: "skip", steps: 8 };

    test("a batch of nothing else is skipped with a counted notice", async () => {
      const environments = [demonstrating((index) => (index % 2 === 0 ? "aa" : "aaaaaa"))];
      const whole = await trainBigram({ ...training(options), environments });
      const skipped = whole.reports.filter(({ metrics }) => metrics["optim/skipped"] === 1);
      expect(whole.reports).toHaveLength(8);
      expect(skipped.length).toBeGreaterThan(1);
      expect(skipped.length).toBeLessThan(8);
      expect(skipped.at(-1)?.notices?.at(-1)).toMatch(
        new RegExp(`was skipped \\(${skipped.length} of ${skipped.at(-1)?.iteration} steps so far\\)`),
      );
      expect((await trainBigramInterrupted({ ...training(options), environments }, 2)).weights).toEqual(whole.weights);
    });

    test("demonstrations that are all too long are refused before training", async () => {
      await expect(
        trainBigram({ ...training(options), environments: [demonstrating(() => "aaaaaa")] }),
      ).rejects.toMatchObject({ code: "DATA_INVALID", message: expect.stringMatching(/longer than 7 tokens/) });
    });
  });

  test("a world model learns the answers of the environment, and no actions", async () => {
    const data = fileOf({
      messages: [
        { role: "user", content: "1" },
        { role: "assistant", content: "a" },
        { role: "user", content: "dd" },
        { role: "assistant", content: "b" },
      ],
    });
    const world = { data, action_weight: 0, observation_weight: 1, batch_size: 1, steps: 12, learning_rate: 0.3 };
    const { reports } = await trainBigram(training(world));
    const losses = reports.map(({ metrics }) => (metrics["loss/nll_observed"] as Mean).sum);
    expect(losses.at(-1)).toBeLessThan((losses[0] as number) * 0.6);
    expect(reports[0]?.metrics["loss/nll"]).toBeUndefined();
    const both = await trainBigram(training({ ...world, action_weight: 1, observation_weight: 0.5, steps: 1 }));
    // Two tokens of each answer: its letter and the stop token.
    expect(both.reports[0]?.metrics["loss/nll"]).toMatchObject({ count: 4 });
    expect(both.reports[0]?.metrics["loss/nll_observed"]).toMatchObject({
      sum: expect.closeTo(losses[0] as number, 4),
    });
  });

  test("numerics 52: several sources share the batches by weight, each with its own rules, also when the run is killed between", async () => {
    const [long, short] = [
      fileOf({ prompt: "1", completion: "abab" }),
      fileOf({ prompt: "1", completion: "a" }, { prompt: "2", completion: "b" }),
    ];
    const mixed = training({ data: [{ path: long, weight: 3 }, { path: short }, {}], batch_size: 5, steps: 6 });
    const whole = await trainBigram(mixed);
    // Of five conversations three of the first source (five tokens), one of the second (two), one demonstration ("aa": three).
    expect(whole.reports.map(({ metrics }) => metrics["tokens/target"])).toEqual(Array(6).fill(3 * 5 + 2 + 3));
    // A batch that ends within a round of the sources: whose turn is next is part of what is saved.
    const uneven = training({ data: [{ path: long, weight: 3 }, { path: short }, {}], batch_size: 4, steps: 6 });
    expect((await trainBigramInterrupted(uneven, 4)).weights).toEqual((await trainBigram(uneven)).weights);
  });

  test("demonstrations of several environments come in proportion to the environments' weights", async () => {
    const environments = [lettersEnvironment(), lettersEnvironment({ id: "long@1", demonstration: "abcd" })];
    const config = {
      environments: [
        { id: "letters@1", weight: 1 },
        { id: "long@1", weight: 3 },
      ],
    };
    const { reports } = await trainBigram({ ...training({ batch_size: 4, steps: 2 }, config), environments });
    expect(reports.map(({ metrics }) => metrics["tokens/target"])).toEqual([3 + 3 * 5, 3 + 3 * 5]);
  });

  test.each<[JsonObject, string, RegExp]>([
    [{ action_weight: 0 }, "CONFIG_INVALID", /both 0/],
    [{ min_reward: 0.5 }, "CONFIG_INVALID", /min_reward.*own demonstrations/s],
    [
      { data: fileOf({ prompt: "1", completion: "a" }), demonstrations: 5 },
      "CONFIG_INVALID",
      /demonstrations.*every source of data is a file/s,
    ],
    [
      { data: [{ path: fileOf({ prompt: "1", completion: "a" }), demonstrations: 5 }] },
      "CONFIG_INVALID",
      /data\[0\]\.demonstrations: has no effect on a file/,
    ],
    [{ data: [{ min_reward: 0.5 }] }, "CONFIG_INVALID", /data\[0\]\.min_reward: has no effect on environments' own/],
    [
      { sampling: { temperature: 0.5 } },
      "CONFIG_INVALID",
      /sampling of this stage has no effect: sft@1 plays no episodes/,
    ],
    [{ observation_weight: -1 }, "CONFIG_INVALID", /observation_weight/],
    [{ action_weight: 0, observation_weight: 1 }, "DATA_INVALID", /in none of them does an observation follow a turn/],
    [
      { data: [{ path: fileOf({ prompt: "1", completion: "a" }), action_weight: 0, observation_weight: 1 }] },
      "DATA_INVALID",
      /1 without an observation after a turn/,
    ],
  ])("what has nothing to learn is refused: %j", async (options, code, message) => {
    await expect(trainBigram(training(options))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test("an environment that demonstrates nothing is refused before anything is started, unless files are learnt from", async () => {
    const { demonstrate: _, ...silent } = lettersEnvironment();
    const data = fileOf({ prompt: "1", completion: "a" });
    await expect(trainBigram({ ...training(), environments: [silent] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(/run\.yaml:\d+:\d+: .*none in letters@1/),
    });
    expect((await trainBigram({ ...training({ data, steps: 1 }), environments: [silent] })).reports).toHaveLength(1);
  });

  test("an environment demonstrates each task once, for all passes over them", async () => {
    const asked: string[] = [];
    const letters = lettersEnvironment();
    const environment: typeof letters = {
      ...letters,
      async demonstrate(context, options, task) {
        asked.push(task);
        return (await letters.demonstrate?.(context, options, task)) as never;
      },
    };
    const options = { steps: 12, batch_size: 16 };
    const { reports } = await trainBigram({ ...training(options), environments: [environment] });
    expect(reports.at(-1)?.metrics["data/epoch"]).toBeGreaterThan(2);
    expect(new Set(asked).size).toBe(asked.length);
  });

  describe("recorded episodes", () => {
    const renderer = chatRenderer({
      tokenizerFiles: characterTokenizerFiles({ alphabet: "abcd0123456789" }),
      eosTokenIds: [],
    });
    const row = (response: string, reward: number | null, changes: JsonObject = {}): JsonObject => {
      const { tokens, mask } = renderer.supervise([
        textMessage("user", "1"),
        textMessage("assistant", response),
      ])[0] as SupervisedSequence;
      const segment = {
        tokens: [...tokens],
        mask: [...mask],
        logprobs: [...mask].map(() => 0),
        versions: [...mask].map(() => 0),
        parent: null,
      };
      const ids = {
        id: response,
        environment: "e@1",
        task: "train/1",
        seed: 1,
        group: "g",
        member: 0,
        agent: "agent",
        role: "agent",
        player: { kind: "policy", name: "policy", policy: "policy" },
        renderer: renderer.fingerprint,
      };
      const messages = [
        { role: "user", content: "1" },
        { role: "assistant", content: response },
      ];
      return {
        ...ids,
        messages,
        segments: [segment],
        turns: [],
        reward,
        terminated: true,
        truncated: false,
        ...changes,
      };
    };

    test.each<[string, number | null, RegExp]>([
      [
        "that all earned too little",
        0.2,
        /run\.yaml:\d+:\d+: .*none of its 2 episodes earned min_reward 0\.5; the best earned 0\.2/,
      ],
      ["without a score", null, /none of its 2 episodes has a score/],
    ])("%s are refused before anything is started", async (_, reward, message) => {
      const engine = new BigramEngine();
      await expect(
        trainBigram({ ...training({ data: fileOf(row("ab", reward), row("cd", reward)), min_reward: 0.5 }), engine }),
      ).rejects.toThrow(message);
      expect((await engine.describe()).models).toEqual([]);
    });

    test("are learnt token by token; those without a score, that failed, or with too small a reward are left out and reported", async () => {
      const data = fileOf(
        row("abab", 1),
        row("cd", 0.2),
        row("dd", null),
        row("dd", 1, { error: { code: "ENVIRONMENT_FAILED", message: "gone" } }),
        row("dd", 1, { player: { kind: "scripted", name: "random" } }),
      );
      const { reports } = await trainBigram(training({ data, min_reward: 0.5, batch_size: 1, steps: 2 }));
      expect(reports.map(({ metrics }) => metrics["tokens/target"])).toEqual([5, 5]);
      expect(reports.map(({ notices }) => notices)).toEqual([
        [
          expect.stringMatching(
            /jsonl: 1 rows are used; 1 below min_reward 0.5, 1 unscored, 1 failed, 1 of other players\.$/,
          ),
        ],
        [],
      ]);
      const conversations = fileOf({ prompt: "1", completion: "abab" });
      const spelled = await trainBigram(training({ data: conversations, batch_size: 1, steps: 2 }));
      expect(nll({ reports } as BigramOutcome)).toEqual(nll(spelled));
      // In rows of another tokenizer only the messages are used.
      const foreign = fileOf(
        row("abab", 1, {
          renderer: "other",
          segments: [{ tokens: [1], mask: [1], logprobs: [0], versions: [0], parent: null }],
        }),
      );
      expect(nll(await trainBigram(training({ data: foreign, batch_size: 1, steps: 2 })))).toEqual(nll(spelled));
    });
  });

  test.each([
    ["refuse", undefined],
    ["truncate", [9, 9]],
    ["skip", [3, 3]],
  ])("rows that are too long, on_overlong: %s", async (on_overlong, targets) => {
    const data = fileOf({ prompt: "1", completion: "ab" }, { prompt: "1", completion: "ab".repeat(20) });
    const outcome = trainBigram(training({ data, on_overlong, max_length: 10, batch_size: 2, steps: 2 }));
    if (targets === undefined)
      return expect(outcome).rejects.toMatchObject({
        code: "DATA_INVALID",
        message: expect.stringMatching(/jsonl:2 has \d+ tokens; 10 are allowed/),
      });
    const { reports } = await outcome;
    expect(reports.map(({ metrics }) => metrics["tokens/target"])).toEqual(on_overlong === "skip" ? [6, 6] : targets);
    expect(reports[0]?.notices).toEqual([
      expect.stringContaining(`1 longer than 10 tokens ${on_overlong === "skip" ? "left out" : "cut"}`),
    ]);
  });

  test("demonstrations that are too long are found before training begins", async () => {
    await expect(trainBigram(training({ max_length: 3 }))).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringContaining("The demonstration of letters@1 train/"),
    });
  });

  test("a row that is no conversation is refused with its line before training begins", async () => {
    const data = fileOf({ prompt: "1", completion: "a" }, { question: "1" });
    await expect(trainBigram(training({ data }))).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringMatching(/jsonl:2 is neither/),
    });
  });
});
