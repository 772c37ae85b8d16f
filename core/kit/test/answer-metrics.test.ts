import { describe, expect, test } from "@jest/globals";
import { type JsonValue, type Message, score, type Trajectory } from "@mrlm/spec";
import { answerMetrics } from "../src/learning/answer-metrics.ts";
import { isCopied } from "../src/learning/copied-answer.ts";
import { textMessage } from "../src/messages.ts";

describe("an answer is copied", () => {
  test.each([
    ["26 + 85", "What is 26 + 85?"],
    ["26+85", "What is 26 + 85?"],
    ["= 26 + 85", "What is 26 + 85?"],
    ["\\frac{3}{4} x", "Simplify \\frac{3}{4} x."],
    ["14 \\cdot 10", "Compute $14 \\cdot 10$."],
    ["2 ** -3", "Evaluate 2 ** -3 in Python."],
    ["(a + b) * c", "Expand (a + b) * c"],
    ["the house that Jack built on the hill", "Describe the house that Jack built on the hill."],
    ["The House that Jack built on THE hill!", "Describe the house that Jack built on the hill."],
  ])("%j of %j", (answer, prompt) => expect(isCopied(answer, prompt)).toBe(true));

  test.each([
    ["111", "What is 26 + 85?"],
    // A name, a number or an option of the question is an answer.
    ["Paris", "Is it Paris, London or Rome?"],
    ["The red one", "Which one is larger: the red one or the blue one?"],
    ["26", "What is 26 + 0?"],
    // The result makes it no copy: the run is 5 of 9 characters.
    ["26 + 85 = 111", "What is 26 + 85?"],
    ["85 + 26", "What is 26 + 85?"],
    ["well-known", "Is it well-known?"],
    ["**Paris**", "Is it **Paris**?"],
    ["yes/no", "Answer yes/no."],
    ["", "What is 26 + 85?"],
    ["+", "What is 26 + 85?"],
    ["26 + 85", ""],
  ])("not %j of %j", (answer, prompt) => expect(isCopied(answer, prompt)).toBe(false));

  test("in time that is linear in long texts", () => {
    const words = Array.from({ length: 40_000 }, (_, i) => `w${i % 997}`).join(" ");
    const began = performance.now();
    expect(isCopied(words, `Repeat: ${words}`)).toBe(true);
    expect(isCopied("a ".repeat(20_000), "a b ".repeat(20_000))).toBe(false);
    expect(performance.now() - began).toBeLessThan(1_500);
  });
});

const player = { kind: "policy", name: "policy", policy: "policy" } as const;

/** Returns an episode with one question and one answer. */
function episode(
  task: string,
  response: Message,
  { question = "What is 26 + 85?", judgements = [] as JsonValue[], by = player as object } = {},
): Trajectory {
  return {
    environment: "e@1",
    task,
    turns: [{ agent: "agent", messages: [textMessage("user", question)], response, stopReason: "stop", rewards: {} }],
    agents: { agent: { role: "agent", player: by, segments: [], total: score(1), end: {} } },
    info: { judgements },
  } as unknown as Trajectory;
}
const group = (...trajectories: Trajectory[]) => ({ id: "g", task: "train/0", players: {}, trajectories });
const answered = (text: string): Message => textMessage("assistant", text);
const graded = (verdict: string, extracted?: string): JsonValue => ({
  ...{ scorer: "math@2", step: 0, agent: "agent", verdict, reason: "", reward: { ...score(0) } },
  ...(extracted === undefined ? {} : { extracted }),
});

describe("metrics of answers", () => {
  test("count copied, equal and different ones of the policy", () => {
    const groups = [
      group(episode("train/0", answered("26 + 85")), episode("train/0", answered("111"))),
      group(episode("train/1", answered("111")), episode("train/1", answered(" 111 "))),
      group(episode("train/1", answered("9"), { by: { kind: "scripted", name: "gold" } })),
      group({ ...episode("train/1", answered("9")), error: { code: "X", message: "" } }),
    ];
    expect(answerMetrics(groups, "policy")).toEqual({
      "answers/copied": { sum: 1, count: 4 },
      "answers/constant": { sum: 3, count: 4 },
      "answers/distinct": { sum: 2, count: 4 },
    });
  });

  test("equal answers to one task are not counted as constant", () => {
    const groups = [group(episode("train/0", answered("111")), episode("train/0", answered("111")))];
    expect(answerMetrics(groups, "policy")).not.toHaveProperty("answers/constant");
    expect(answerMetrics([], "policy")).toEqual({});
  });

  test("take what the scorer read of a long reply, and count what it could not read", () => {
    const reply = answered("Let me see. <answer>26 + 85</answer>");
    const groups = [
      group(
        episode("train/0", reply, { judgements: [graded("different", "7"), graded("not-computed", "26 + 85")] }),
        episode("train/1", reply, { judgements: [graded("unreadable")] }),
        episode("train/2", reply, { judgements: [graded("undecided", "x")] }),
      ),
    ];
    expect(answerMetrics(groups, "policy")).toMatchObject({
      "answers/copied": { sum: 1, count: 3 },
      "answers/found": { sum: 3, count: 4 },
      "answers/unreadable": { sum: 1, count: 4 },
      "answers/undecided": { sum: 1, count: 4 },
    });
  });

  test("read the arguments of the last action, and neither thinking nor results of tools", () => {
    const submit: Message = {
      role: "assistant",
      parts: [
        { type: "thinking", text: "26 + 85 is what it asks for" },
        { type: "tool-call", id: "1", name: "submit", arguments: { answer: "26 + 85" } },
      ],
    };
    expect(answerMetrics([group(episode("train/0", submit))], "policy")).toMatchObject({
      "answers/copied": { sum: 1, count: 1 },
    });
    const played = episode("train/0", answered("26 + 85"), { question: "Add them." });
    const result: Message = { role: "tool", parts: [{ type: "text", text: "26 + 85" }] };
    const turns = played.turns.map((turn) => ({ ...turn, messages: [...turn.messages, result] }));
    expect(answerMetrics([group({ ...played, turns })], "policy")).toMatchObject({
      "answers/copied": { sum: 0, count: 1 },
    });
  });
});
