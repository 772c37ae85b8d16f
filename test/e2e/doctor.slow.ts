import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { grpo } from "@mrlm/grpo";
import { ppo } from "@mrlm/ppo";
import { diagnose, readRun } from "@mrlm/runtime";
import { sft } from "@mrlm/sft";
import { type JsonObject, score, unscored } from "@mrlm/spec";
import type { Engine, Sampler } from "@mrlm/spec/host";
import { BigramEngine, lettersEnvironment, type LettersReward, trainBigram } from "@mrlm/testing";

interface Run {
  readonly options?: JsonObject;
  readonly config?: JsonObject;
  readonly reward?: LettersReward;
  readonly engine?: Engine;
}

const file = (rows: readonly JsonObject[]): string => {
  const path = join(mkdtempSync(join(tmpdir(), "mrlm-doctor-")), "rows.jsonl");
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  return path;
};

/** Short answers of the letter "a": a policy that learns these answers also learns to stop. */
const brief: LettersReward = (text) => score(text.length > 0 && text.length <= 4 ? text.split("a").length / 5 : 0);
const everySecond = (otherwise: () => ReturnType<LettersReward>): LettersReward => {
  let calls = 0;
  return (text) => (++calls % 2 === 0 ? otherwise() : brief(text, { index: 0, turn: 0 }));
};

/** Samples with log-probabilities that differ from those of the trainer, as an engine of another number format does. */
function mismatched(): Engine {
  return new Proxy<Engine>(new BigramEngine(), {
    get: (target, property: keyof Engine) =>
      property !== "sampler"
        ? target[property].bind(target)
        : async (model: string): Promise<Sampler> => {
            const sampler = await target.sampler(model);
            const sample: Sampler["sample"] = async (...request) => {
              const found = await sampler.sample(...request);
              return { ...found, logprobs: found.logprobs.map((logprob, t) => logprob + (t % 2 === 0 ? 0.3 : -0.3)) };
            };
            return { sample, barrier: () => sampler.barrier(), close: () => sampler.close() };
          },
  });
}

const stages: Record<string, JsonObject> = {
  grpo: { algorithm: "grpo", steps: 24, prompts_per_step: 6, group_size: 8, learning_rate: 0.1 },
  ppo: {
    algorithm: "ppo",
    steps: 24,
    prompts_per_step: 24,
    learning_rate: 0.1,
    critic_learning_rate: 0.05,
    value_lambda: 1,
  },
  sft: { algorithm: "sft", steps: 24, batch_size: 16, learning_rate: 0.1 },
  dpo: { algorithm: "dpo", steps: 24, batch_size: 8, learning_rate: 0.1, beta: 0.5 },
};
const pairs = Array.from({ length: 24 }, (_, i) => ({
  prompt: String(i % 10),
  chosen: "ab".repeat(1 + (i % 3)),
  rejected: "dc".repeat(1 + (i % 2)),
}));
const contradicting = pairs.map(({ prompt }, i) =>
  i % 2 === 0 ? { prompt, chosen: "ab", rejected: "ba" } : { prompt, chosen: "ba", rejected: "ab" },
);

/** Returns the rules that have a finding, and the text of all findings. */
async function examine(
  kind: string,
  { options, config, reward, engine }: Run,
): Promise<{ readonly rules: string[]; readonly text: string }> {
  const environments = [lettersEnvironment({ reward: reward ?? brief })];
  const { summary } = await trainBigram({
    algorithms: [grpo, ppo, sft, dpo],
    environments,
    stages: [{ ...stages[kind], ...options }],
    config: { sampling: { max_tokens: 16 }, checkpoint: { every: 0 }, ...config },
    ...(engine === undefined ? {} : { engine }),
  });
  // Durations depend on the machine.
  const findings = diagnose(readRun(summary.directory)).filter(
    ({ rule }) => !["wire-bound", "environment-bound"].includes(rule),
  );
  return {
    rules: findings.map(({ rule }) => rule),
    text: findings.map(({ what, advice }) => `${what} ${advice}`).join("\n"),
  };
}

test.each<[string, string, Run]>([
  ["grpo", "at an ordinary rate", {}],
  ["ppo", "at an ordinary rate", {}],
  ["sft", "at an ordinary rate", {}],
  ["dpo", "at an ordinary rate", { options: { data: file(pairs) } }],
])("%s %s: nothing looks wrong", async (kind, _, run) => {
  expect(await examine(kind, run)).toMatchObject({ rules: [] });
});

test.each<[string, string, Run, string, RegExp]>([
  ["sft", "at a hundredfold rate", { options: { learning_rate: 30 } }, "rising-loss", /diverged.*Lower learning_rate/s],
  [
    "dpo",
    "of pairs that contradict each other",
    { options: { data: file(contradicting) } },
    "pairs-not-learnt",
    /chance is 50 %/,
  ],
  [
    "grpo",
    "whose episodes all earn the same",
    { reward: () => score(0.25) },
    "groups-without-signal",
    /exactly 0\.25.*scorer/s,
  ],
  [
    "grpo",
    "whose scorer fails half of the time",
    { reward: everySecond(() => unscored("JUDGE_FAILED", "The judge answered 503.")) },
    "episodes-unscored",
    /50 %.*JUDGE_FAILED: The judge answered 503 \(\d+ episodes\)/s,
  ],
  [
    "grpo",
    "whose environment fails half of the time",
    {
      reward: everySecond(() => {
        throw new Error("no such key");
      }),
    },
    "episodes-failed",
    /ENVIRONMENT_FAILED: .*no such key/,
  ],
  [
    "grpo",
    "with too few tokens",
    { config: { sampling: { max_tokens: 2 } } },
    "truncation",
    /Raise sampling\.max_tokens/,
  ],
  [
    "grpo",
    "rewarded for always the same",
    {
      options: { steps: 40, learning_rate: 1 },
      reward: (text) => score(text === "a" ? 0.8 : 0.2 * Number(text.length < 6)),
    },
    "entropy-collapse",
    /Entropy fell.*entropy_coefficient/s,
  ],
  [
    "grpo",
    "sampled by other numbers than it is trained with",
    { engine: mismatched() },
    "sampler-mismatch",
    /float32_head/,
  ],
  [
    "ppo",
    "sampled by other numbers than it is trained with",
    { engine: mismatched() },
    "sampler-mismatch",
    /float32_head/,
  ],
  [
    "sft",
    "of answers that are cut",
    {
      options: {
        max_length: 12,
        on_overlong: "truncate",
        data: file([
          { prompt: "1", completion: "abababababababab" },
          { prompt: "2", completion: "ab" },
        ]),
      },
    },
    "cut-targets",
    /no stop token/,
  ],
])("%s %s: the first finding names it", async (kind, _, run, rule, words) => {
  const { rules, text } = await examine(kind, run);
  expect([rules[0], text]).toEqual([rule, expect.stringMatching(words)]);
  // Advice that would make it worse.
  expect(text).not.toContain("Raise learning_rate three- to tenfold, or sample");
});
