import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ScoreRequest } from "@mrlm/kit";
import { type ChatServer, scorerContract, startChatServer } from "@mrlm/testing";
import { ExactMatch, Factuality, Levenshtein } from "autoevals";
import { fromPromptfoo, fromScorer } from "../src/index.ts";

const REQUEST: ScoreRequest = { question: "2 + 2", answer: "4", expected: "4" };

scorerContract({
  name: "ExactMatch of autoevals",
  make: () => fromScorer(ExactMatch),
  examples: [{ request: { expected: "4", question: "2 + 2" }, right: ["4"], wrong: ["5", ""] }],
});

describe("scorers of autoevals and evalite", () => {
  /** Server of the model that Factuality asks. */
  let server: ChatServer;
  beforeAll(async () => {
    const verdict = { name: "select_choice", arguments: JSON.stringify({ reasons: "It is the same.", choice: "B" }) };
    server = await startChatServer(({ body }) =>
      JSON.stringify(body.messages).includes("outage")
        ? (response) => void response.writeHead(400).end(JSON.stringify({ error: { message: "There is no model." } }))
        : { message: { content: null, tool_calls: [{ id: "1", type: "function", function: verdict }] } },
    );
  });
  afterAll(() => server.close());
  const factuality = () =>
    fromScorer(Factuality.partial({ model: "m", openAiApiKey: "key", openAiBaseUrl: server.baseUrl }));

  test("a score is the reward, and a component of its name", async () => {
    expect(await fromScorer(Levenshtein).score({ ...REQUEST, answer: "44" })).toEqual({
      reward: { scored: true, value: 0.5, components: { Levenshtein: 0.5 } },
      verdict: "scored",
      reason: "Levenshtein: 0.5",
    });
  });

  test("the reasons of a model are the reason; it reads question, answer and reference", async () => {
    const grade = await factuality().score({ question: "Which sum?", answer: "It is four.", expected: "The four." });
    expect(grade).toMatchObject({
      reward: { scored: true, value: 0.6, components: { Factuality: 0.6 } },
      reason: "It is the same.",
    });
    const prompt = JSON.stringify(server.requests[0]?.body.messages);
    for (const part of ["Which sum?", "It is four.", "The four."]) expect(prompt).toContain(part);
  });

  test("a failure of the model is unscored", async () => {
    const { reward } = await factuality().score({ ...REQUEST, question: "outage" });
    expect(reward).toEqual({
      scored: false,
      code: "SCORER_FAILED",
      message: expect.stringContaining("There is no model."),
    });
  });

  test("a scorer of evalite may return a number or state it, and options of the request reach it", async () => {
    const scorer = ({ input, output, expected, unit }: Record<string, string>) =>
      input === "2 + 2" && output === expected && unit === "m" ? 1 : 0;
    const request = { ...REQUEST, options: { unit: "m" } };
    expect(await fromScorer({ name: "sum", scorer }).score(request)).toMatchObject({
      reward: { value: 1, components: { sum: 1 } },
    });
    expect(await fromScorer(() => 1).score(request)).toMatchObject({ reward: { value: 1, components: { score: 1 } } });
    // The form of a scorer that createScorer of evalite returns.
    const created = async (input: Record<string, string>) => ({ name: "sum", score: scorer(input), metadata: {} });
    expect(await fromScorer(created).score(request)).toMatchObject({ reward: { value: 1, components: { sum: 1 } } });
  });

  test.each([
    [
      "a score of null",
      () => ({ name: "s", score: null, metadata: { why: "skipped" } }),
      's returned no score: {"why":"skipped"}',
    ],
    ["null", () => null, "s returned no score: null"],
    ["an error beside a score", () => ({ name: "s", score: 0, error: new Error("down") }), "s failed: Error: down"],
    ["a thrown error", () => Promise.reject(new Error("down")), "The grader failed: down"],
  ])("%s is unscored", async (_, scorer, message) => {
    const grade = await fromScorer({ name: "s", scorer }).score(REQUEST);
    expect(grade).toEqual({
      reward: { scored: false, code: "SCORER_FAILED", message },
      verdict: "failed",
      reason: message,
    });
  });

  test.each([-0.1, 1.5, 85, Number.NaN, Infinity])("a score of %p is an error with the action", async (value) => {
    await expect(fromScorer({ name: "s", scorer: () => value }).score(REQUEST)).rejects.toMatchObject({
      code: "SCORER_FAILED",
      message: `s returned the score ${value}, and a score is a number from 0 to 1. Scale it in a function around the scorer.`,
    });
  });

  test("an abort is thrown", async () => {
    const signal = AbortSignal.abort(new Error("late"));
    const scorer = fromScorer({ name: "s", scorer: () => Promise.reject(signal.reason) });
    await expect(scorer.score({ ...REQUEST, signal })).rejects.toThrow("late");
  });
});

/** Results that promptfoo 0.121.20 returned for the assertions that are named. */
const OK = { pass: true, score: 1, reason: "Assertion passed" };
const failed = (reason: string, rest: object = {}) => ({ pass: false, score: 0, reason, ...rest });
const OUTAGE = failed("503", { metadata: { graderError: true } });
const all = (score: number, reason: string, componentResults: object[], namedScores = {}) => ({
  ...{ pass: score === 1, score, reason, namedScores, componentResults },
});

describe("assertions of promptfoo", () => {
  const promptfoo = (result: object | Error) => {
    const inputs: unknown[] = [];
    const assertions = {
      async runAssertions(input: unknown) {
        inputs.push(input);
        if (result instanceof Error) throw result;
        return result as ReturnType<typeof all> & { componentResults: never[] };
      },
    };
    const test = { assert: [{ type: "contains", value: "{{expected}}", metric: "has" }], vars: { unit: "m" } };
    return { inputs, test, scorer: fromPromptfoo(assertions, test) };
  };

  test("their weighted mean is the reward, metrics are components, and they know question and reference", async () => {
    const {
      inputs,
      test: given,
      scorer,
    } = promptfoo(
      all(0.5, 'Expected output to match regex "^no"', [OK, failed('Expected output to match regex "^no"')], {
        has: 1,
      }),
    );
    expect(await scorer.score({ ...REQUEST, options: { level: 2 } })).toEqual({
      reward: { scored: true, value: 0.5, components: { has: 1 } },
      verdict: "scored",
      reason: 'Expected output to match regex "^no"',
    });
    expect(inputs).toEqual([
      {
        prompt: "2 + 2",
        test: { ...given, vars: { unit: "m", level: 2, question: "2 + 2", expected: "4" } },
        providerResponse: { output: "4" },
      },
    ]);
  });

  const THROWN = "Custom function threw error: down\nStack Trace: Error: down";
  test.each([
    ["llm-rubric, whose model fails", all(0.5, "503", [OUTAGE, OK]), "503"],
    ["the same in an assert-set", all(0.5, "503", [{ ...failed("503"), componentResults: [OUTAGE] }, OK]), "503"],
    ["javascript that throws", all(0, THROWN, [failed(THROWN)]), THROWN],
    ["python that raises", all(0.5, "No.", [failed("No."), failed("Python code execution failed: x")]), "Python code"],
    ["a webhook that is down", all(0, "x", [failed("Webhook error: Request failed")]), "Webhook error"],
    ["a provider that throws", new Error("socket hang up"), "socket hang up"],
  ])("%s is unscored", async (_, result, message) => {
    expect((await promptfoo(result).scorer.score(REQUEST)).reward).toEqual({
      scored: false,
      code: "SCORER_FAILED",
      message: expect.stringContaining(message),
    });
  });

  test("a score above 1 is an error with the action", async () => {
    await expect(
      promptfoo(all(7, "All assertions passed", [{ ...OK, score: 7 }])).scorer.score(REQUEST),
    ).rejects.toThrow(
      "promptfoo returned the score 7, and a score is a number from 0 to 1. Scale it in a function around the scorer.",
    );
  });

  test("assertions whose failures look like wrong answers are refused, and a test without assertions", () => {
    const assertions = { runAssertions: () => Promise.reject(new Error("They are not run.")) };
    for (const type of ["similar", "similar:dot", "factuality", "not-context-recall", "select-best"]) {
      expect(() => fromPromptfoo(assertions, { assert: [{ type }] })).toThrow(`The assertion "${type}" of promptfoo`);
      expect(() => fromPromptfoo(assertions, { assert: [{ type: "assert-set", assert: [{ type }] }] })).toThrow(type);
    }
    expect(() => fromPromptfoo(assertions, { assert: [] })).toThrow("by which every answer is right");
  });
});
