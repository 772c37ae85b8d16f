import { expect, test } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { grpo } from "@mrlm/grpo";
import { definePlugin, generatedTasks, type Grade, score, singleTurn } from "@mrlm/kit";
import { diagnose, readRun } from "@mrlm/runtime";
import { sft } from "@mrlm/sft";
import type { Scorer } from "@mrlm/spec";
import { trainBigram } from "@mrlm/testing";

/** Scorer of whole numbers. An expression of the same value is right too, unless the form must be a number. */
const sums = (form: "any" | "number"): Scorer => ({
  async score({ answer, expected }): Promise<Grade> {
    const terms = answer.split("+");
    const isRead = terms.every((term) => /^\d+$/.test(term)) && (form === "any" || terms.length === 1);
    const value = terms.reduce((sum, term) => sum + Number(term), 0);
    const isRight = isRead && value === Number(expected);
    const verdict = isRight ? "equivalent" : isRead ? "different" : "unreadable";
    return { reward: score(Number(isRight)), verdict, reason: "", extracted: answer };
  },
});

/** Asks for 5+7 on different pages. Demonstrations give the policy the answer of a test now and then, as a pretrained model has it. */
const asked = (demonstrated: string) =>
  singleTurn({
    id: "sums@1",
    description: "Adds.",
    requires: ["scorer:any@1"],
    tasks: () =>
      generatedTasks({
        seed: 1,
        splits: { train: { size: 64, share: 3 }, eval: { size: 8, share: 1 } },
        generate: (random) => {
          const page = String(random.integer(0, 99_999));
          return { public: { page }, private: { expected: "12" }, key: page };
        },
      }),
    prompt: ({ page }) => `${page}:5+7`,
    score: async (answer, { private: { expected } }, { context, signal }) =>
      (await context.scorer("any").score({ answer, expected, signal })).reward,
    answer: () => demonstrated,
  });

async function train(paid: "any" | "number", demonstrated: string) {
  const output = mkdtempSync(join(tmpdir(), "mrlm-watch-"));
  try {
    const { summary, notices } = await trainBigram({
      algorithms: [sft, grpo],
      environments: [asked(demonstrated)],
      plugins: [
        definePlugin({ name: "scorers", scorers: { "any@1": () => sums(paid), "strict@1": () => sums("number") } }),
      ],
      stages: [
        { algorithm: "sft", steps: 6, batch_size: 4, learning_rate: 0.3 },
        { algorithm: "grpo", steps: 15, prompts_per_step: 8, group_size: 16, learning_rate: 0.2 },
      ],
      config: {
        output,
        model: { random: { config: {}, tokenizer: { characters: { alphabet: "0123456789:+" } } } },
        sampling: { max_tokens: 6 },
        checkpoint: { every: 0 },
        environments: [{ id: "sums", watch: { scorer: "strict" } }],
      },
    });
    const record = readRun(summary.directory);
    return { notices, findings: diagnose(record) };
  } finally {
    rmSync(output, { recursive: true });
  }
}

test("a scorer that pays for the question is named by step 15, in the run and by doctor", async () => {
  const { notices, findings } = await train("any", "5+7");
  const rules = findings.map(({ rule, severity }) => `${severity} ${rule}`);
  expect(rules).toEqual(
    expect.arrayContaining(["problem watch-gap", "problem copied-answers", "problem equal-answers"]),
  );
  expect(findings.find(({ rule }) => rule === "watch-gap")?.what).toMatch(
    /went from 0(\.\d+)? to (0\.\d+|1), and the one of the watch from 0 to 0: the policy learns what the scorer pays/,
  );
  for (const rule of ["watch-gap", "copied-answers", "equal-answers"])
    expect(notices.filter((text) => text.startsWith("problem: ") && text.includes(`(${rule}:`))).toHaveLength(1);
});

test("a scorer that requires the number has a policy that computes, and no such finding", async () => {
  const { findings, notices } = await train("number", "12");
  const rules = findings.map(({ rule }) => rule);
  expect(rules).not.toContain("watch-gap");
  expect(rules).not.toContain("copied-answers");
  expect(notices.filter((text) => text.includes("(watch-gap"))).toEqual([]);
});
