import { describe, expect, test } from "@jest/globals";
import { callMessage, messageText, textMessage, toolCalls } from "@mrlm/kit";
import { attackEnvironment } from "../src/attack/attack.ts";
import { describeAttack, describeSearch } from "../src/attack/describe-attack.ts";
import { framesOf } from "../src/attack/frames.ts";
import type { AttackLimits } from "../src/attack/search.ts";
import { literalsOf } from "../src/attack/source-literals.ts";
import { KINDS, type SpanKind } from "../src/attack/spans.ts";
import { lowerMean, lowerShare } from "../src/attack/verdict.ts";
import { makeSubject } from "../src/contract/subject.ts";
import { inProcess } from "../src/index.ts";
import { HOLES, SOUND } from "./support/attacked-environments.ts";

async function attack(definition: (typeof HOLES)[string], limits: AttackLimits) {
  const plugin = { apiVersion: 1, name: "attacked", environments: [definition] } as const;
  const subject = await makeSubject([plugin], definition.id, inProcess, undefined);
  try {
    const result = await attackEnvironment(subject, limits);
    if ("skipped" in result) throw new Error(result.skipped);
    return result;
  } finally {
    await subject.close();
  }
}

describe("spans", () => {
  const text = [
    'Ask "Ada Byron" of Oslo: is 12 + 3.5 larger than f(7)?',
    "A) the first one",
    "B) the second one",
    "Choose from red, green or blue.",
    'Data: {"id": "k-17", "size": 4} at https://example.org/a?b and /tmp/file.txt',
  ].join("\n");
  test.each<[SpanKind, readonly string[]]>([
    ["quoted", ["Ada Byron", "id", "k-17", "size"]],
    ["expression", ["12 + 3.5", "k-17"]],
    ["option", ["the first one", "the second one"]],
    ["label", ["A", "B"]],
    ["json", ["k-17", "4"]],
    ["bracket", ["7", '"id": "k-17", "size": 4']],
    ["address", ["https://example.org/a?b", "/tmp/file.txt"]],
  ])("%s", (kind, spans) => {
    expect(KINDS[kind].find(text)).toEqual(spans);
  });
  test("parts of a list", () => {
    expect(KINDS.part.find("Choose one of: red, green or blue.")).toEqual(["red", "green", "blue"]);
  });
});

describe("frames of gold answers", () => {
  const fill = (texts: readonly string[], slots: readonly string[]): string[] =>
    framesOf(texts.map((text) => textMessage("assistant", text))).map((frame) => messageText(frame.fill(slots)));

  test.each([
    ["a tag", ["So <answer>5</answer>", "Thus <answer>17</answer>"], "<answer>X</answer>"],
    ["a box", [String.raw`It is \boxed{5}.`, String.raw`We get \boxed{\frac{1}{2}}.`], String.raw`\boxed{X}`],
    ["a code block", ["Code:\n```py\na\n```", "Look:\n```py\nb\n```"], "```py\nX\n```"],
    ["the last line", ["One.\nAnswer: 5", "Two and three.\nAnswer: seven"], "Answer: X"],
    ["beginning and end", ["I take 3 apples now", "I take 12 apples now"], "I take X apples now"],
  ])("%s", (_name, texts, filled) => {
    expect(fill(texts, ["X"])).toContain(filled);
  });

  test("JSON has a slot for each field that differs, of the type that stood there", () => {
    const texts = ['{"kind":"buy","count":3,"item":"a"}', '{"kind":"buy","count":4,"item":"b"}'];
    expect(fill(texts, ["7", "c"])).toEqual(['{"kind":"buy","count":7,"item":"c"}']);
  });

  test("a call has a slot for each argument that differs", () => {
    const [frame] = framesOf([
      callMessage("submit", { answer: "1", final: true }),
      callMessage("submit", { answer: "2", final: true }),
    ]);
    expect(toolCalls(frame?.fill(["x"]) as ReturnType<typeof callMessage>)).toMatchObject([
      { name: "submit", arguments: { answer: "x", final: true } },
    ]);
  });
});

test("literals of a source: texts, parts of templates, alternatives, lists", () => {
  const source = [
    "// 'a comment'",
    'const words = ["because", "therefore"];',
    "const text = `Score: ${n} of ten`;",
    "if (/^(yes|no)\\b/i.test(answer) && answer.length / 2 > 120) pay();",
  ].join("\n");
  expect(literalsOf(source)).toEqual({
    texts: ["because", "therefore", "Score: ", " of ten", "yes", "no"],
    lists: [
      ["because", "therefore"],
      ["yes", "no"],
    ],
  });
});

test("intervals of 99 %", () => {
  expect(lowerShare(50, 100)).toBeCloseTo(0.3753, 3);
  expect(lowerShare(0, 100)).toBeCloseTo(0, 9);
  expect(
    lowerMean(
      Array.from({ length: 100 }, () => 1),
      0,
    ),
  ).toBeGreaterThan(0.95);
  expect(lowerMean([1, 1, 1, 1, 1], 0)).toBeLessThan(0.5);
});

const EPISODES = 2_000;

test.each(Object.keys(HOLES))("finds the hole of: %s", async (name) => {
  const result = await attack(HOLES[name] as (typeof HOLES)[string], { episodes: EPISODES });
  expect(result.attacks[0]?.reason ?? describeSearch(result, result.spent, result.fixture)).toMatch(
    /^(half|top|unscored)$/,
  );
});

test.each(Object.keys(SOUND))("finds no hole in: %s", async (name) => {
  const result = await attack(SOUND[name] as (typeof SOUND)[string], { episodes: EPISODES });
  expect(result.attacks.map((each) => describeAttack(result, each))).toEqual([]);
});

test("the finding has the program in words, the rewards, three examples and the reason", async () => {
  const result = await attack(HOLES["expression copied"] as (typeof HOLES)[string], { episodes: EPISODES });
  const text = describeAttack(result, result.attacks[0] as (typeof result.attacks)[number]);
  expect(text).toMatch(
    /the first expression of the question, in <answer>\.\nMean reward 1 in 100 tasks, top reward in 100 %; gold 1, nothing 0, random 0\.\n/,
  );
  expect(text.match(/→ "<answer>\d+ \+ \d+<\/answer>": 1$/gm)).toHaveLength(3);
});

test("equal limits give the same result, and a search that must stop prints what was not tried", async () => {
  const definition = SOUND["digits"] as (typeof SOUND)[string];
  const lines = [];
  for (let i = 0; i < 2; i++) {
    const result = await attack(definition, { episodes: 400 });
    lines.push(describeSearch(result, result.spent, result.fixture));
  }
  expect(lines[0]).toBe(lines[1]);
  const stopped = await attack(definition, { episodes: 400, isLate: () => true });
  expect(describeSearch(stopped, stopped.spent, stopped.fixture)).toMatch(
    /programs not tried: \d+ of constant, \d+ of span/,
  );
});
