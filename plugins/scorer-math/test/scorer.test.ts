import { describe, expect, test } from "@jest/globals";
import { barePluginContext } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { MathScorer } from "../src/scorer.ts";
import { rowsOf } from "./rows.ts";

describe("the scorer math@2", () => {
  const scorer = new MathScorer();

  test("pays 1 for an equivalent answer and 0 for a different one, with the verdict's detail", async () => {
    const right = await scorer.score({ expected: "1/2", answer: "so it is $\\boxed{0.5}$" });
    expect(right).toMatchObject({
      reward: { scored: true, value: 1, components: { correct: 1 } },
      verdict: "equivalent",
      extracted: "0.5",
      detail: { method: "identical", expected: "1/2", answer: "1/2" },
    });
    const wrong = await scorer.score({ expected: "1/2", answer: "$\\boxed{0.6}$" });
    expect(wrong).toMatchObject({ reward: { scored: true, value: 0 }, verdict: "different" });
  });

  test("U2: what the policy causes is wrong, what the reference causes is unscored", async () => {
    const wrong = { scored: true, value: 0 };
    const open = { expected: "$\\int_0^1 e^{-x^2}\\,dx$", answer: "$\\int_0^1 e^{-x^4}\\,dx$" };
    expect(await scorer.score(open)).toMatchObject({ reward: wrong, verdict: "undecided" });
    const junk = { expected: "42", answer: "<answer>\\square</answer>", schema: "answer" };
    expect(await scorer.score(junk)).toMatchObject({ reward: wrong, verdict: "unreadable" });
    expect(await scorer.score({ ...junk, expected: "\\foo{3}" })).toMatchObject({
      reward: { scored: false, code: "SCORER_REFERENCE_INVALID" },
      verdict: "bad-reference",
    });
    expect(await scorer.score({ ...junk, expected: "\\foo{3}", answer: "" })).toMatchObject({ reward: wrong });
  });

  test("U1: an answer that has yet to be computed earns nothing, unless any equivalent answer is asked for", async () => {
    const request = { expected: "140", answer: "<answer>14 * 10</answer>", question: "What is 14 * 10?" };
    expect(await scorer.score(request)).toMatchObject({ reward: { scored: true, value: 0 }, verdict: "not-computed" });
    const equivalent = await scorer.score({ ...request, options: { form: "equivalent" } });
    expect(equivalent).toMatchObject({ reward: { value: 1 }, verdict: "equivalent" });
    const lenient = await new MathScorer({ form: "equivalent" }).score(request);
    expect(lenient.verdict).toBe("equivalent");
  });

  test("with a schema, an answer elsewhere is none", async () => {
    const outside = await scorer.score({ expected: "5", answer: "The answer is 5.", schema: "answer" });
    expect(outside).toMatchObject({ reward: { scored: true, value: 0 }, verdict: "different" });
    expect(outside.extracted).toBeUndefined();
    const inside = await scorer.score({ expected: "5", answer: "<answer>5</answer>", schema: "answer" });
    expect(inside).toMatchObject({ verdict: "equivalent", extracted: "5" });
    const lenient = await scorer.score({
      expected: "5",
      answer: "It is 5.",
      schema: "answer",
      options: { mode: "lenient" },
    });
    expect(lenient.verdict).toBe("equivalent");
  });

  test("takes the options of a request and passes over those of other graders", async () => {
    const request = { expected: "1/3", answer: "0.33" };
    expect((await scorer.score(request)).verdict).toBe("different");
    expect((await scorer.score({ ...request, options: { precision: 2, timeout: 3 } })).verdict).toBe("equivalent");
  });

  test("a reason, which clients get, holds no number, choice or unit of the expected answer", async () => {
    const expected = rowsOf<{ expected: string }>("corpus.jsonl").map((row) => row.expected);
    const texts = [...new Set(expected)].filter((_, i) => i % 8 === 0).concat("D", "5 kg", "\\frac{-1}{2}");
    for (const answer of ["7919", "B", "(7919, 3)", "7919 m"])
      for (const text of texts) {
        const { verdict, reason } = await scorer.score({ expected: text, answer });
        if (verdict !== "different") continue;
        const secrets: string[] = text.match(/\d{2,}|\b[A-Z]\b|\bkg\b/g) ?? [];
        const words: string[] = reason.match(/\w+/g) ?? [];
        expect([text, answer, reason, secrets.filter((each) => words.includes(each))]).toEqual([
          text,
          answer,
          reason,
          [],
        ]);
      }
  });

  test("is what the plugin provides under math@2", async () => {
    const factory = plugin.scorers?.["math@2"];
    const made = await factory?.(barePluginContext(), { precision: 2 });
    expect((await made?.score({ expected: "1/3", answer: "0.33" }))?.verdict).toBe("equivalent");
  });
});
