import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { Judgement } from "@mrlm/kit";
import plugin from "../src/index.ts";
import { requestOf, rulesJudge } from "./support/debate.ts";
import { type Topic, topics } from "./fixtures/topics.ts";

const [helmets] = topics as [Topic];
const signal = new AbortController().signal;
const judge = (
  topic: Topic,
  change: Parameters<typeof requestOf>[1] = {},
  options: Parameters<typeof rulesJudge>[0] = {},
) => rulesJudge(options).judge(requestOf(topic, change), { signal });
const value = ({ rewards }: Judgement, agent: string): number => {
  const reward = rewards[agent];
  return reward?.scored === true ? reward.value : Number.NaN;
};

const directory = mkdtempSync(join(tmpdir(), "mrlm-judge-rules-"));
afterAll(() => rmSync(directory, { recursive: true }));

test("an honest debate is scored by its mean, consistency and key points", async () => {
  const judgement = await judge(helmets);
  const { pro, con } = judgement.rewards;
  expect(pro).toMatchObject({ scored: true });
  expect(con).toMatchObject({ scored: true });
  for (const reward of [pro, con]) {
    if (reward?.scored !== true) throw new Error("unscored");
    const { arguments: mean = 0, consistency = 0, coverage = 0 } = reward.components;
    expect(reward.value).toBeCloseTo(0.6 * mean + 0.2 * consistency + 0.2 * coverage, 12);
    expect(mean).toBeGreaterThan(0.35);
    expect(consistency).toBeGreaterThan(0.8);
    expect(coverage).toBeGreaterThan(0);
  }
  expect(judgement.reason).toMatch(/^pro 0\.\d\d \(arguments 0\.\d\d, consistency 0\.\d\d, coverage 0\.\d\d\); con /);
  expect((judgement.detail as any).pro.arguments).toHaveLength(4);
});

test("the components of one argument have the stated weights", async () => {
  const { detail, rewards } = await judge(helmets, { pro: [helmets.pro[1] as string], con: [] });
  const [argument] = (detail as any).pro.arguments;
  const { length, evidence, reasoning, structure, relevance, substance } = argument;
  const sum = 0.2 * length + 0.25 * evidence + 0.25 * reasoning + 0.15 * structure + 0.15 * relevance;
  expect(argument.value).toBeCloseTo(substance * sum, 12);
  expect(rewards["con"]).toMatchObject({ value: 0 });
});

test("a side that is silent, stuffs or copies loses, whichever it is", async () => {
  const stuffed = Array(4).fill(
    "Because research shows evidence, therefore data and studies prove it, for example, 90 percent.",
  );
  for (const [bad, name] of [
    [["", "", "", ""], "silent"],
    [stuffed, "stuffed"],
    [helmets.pro.map((text) => `Indeed, ${text}`), "copied"],
  ] as const) {
    const judgement = await judge(helmets, { con: bad });
    expect([name, judgement.verdict, value(judgement, "con") < 0.1]).toEqual([name, "pro", true]);
    expect(judgement.reason).toMatch(/con 0\.\d\d .*; arguments 1, 2, 3, 4 of little substance\)/);
  }
  const other = await judge(helmets, { pro: Array(4).fill(helmets.question) });
  expect(other.verdict).toBe("con");
});

test("a concession counts against consistency, and key points are covered by sentences, not by lists", async () => {
  const conceding = await judge(helmets, {
    pro: helmets.pro.map((text, i) => (i === 3 ? `My opponent is right. ${text}` : text)),
  });
  const plain = await judge(helmets);
  const consistency = ({ rewards }: Judgement) => (rewards["pro"] as any).components.consistency as number;
  expect(consistency(conceding)).toBeCloseTo(consistency(plain) * 0.75, 1);
  const coverage = async (text: string) =>
    ((await judge(helmets, { pro: [text], con: [] })).rewards["pro"] as any).components.coverage as number;
  expect(await coverage(`- ${helmets.keyPoints.pro.join("\n- ")}`)).toBe(0);
  expect(
    await coverage(
      "When a wheel slips on wet leaves, foam keeps serious injuries of the head away, so both falls and collisions end at the kitchen table with helmets on the hook.",
    ),
  ).toBeCloseTo(1 / 3, 6);
});

test("equal sides tie, one agent is scored, and a task without key points has no coverage", async () => {
  expect((await judge(helmets, { pro: [""], con: [""] })).verdict).toBe("tie");
  const request = requestOf(helmets);
  const alone = await rulesJudge().judge({ ...request, agents: ["pro"] }, { signal });
  expect(alone.verdict).toBe("scored");
  const bare = { ...request, task: { id: "train/0", public: {}, private: {} } };
  const reward = (await rulesJudge().judge(bare, { signal })).rewards["pro"] as any;
  const { arguments: mean, consistency } = reward.components;
  expect(reward.components).toEqual({ arguments: mean, consistency });
  expect(reward.value).toBeCloseTo((0.6 * mean + 0.2 * consistency) / 0.8, 12);
});

describe("options", () => {
  test("weights are divided by their sum", async () => {
    const argument = { length: 1, evidence: 0, reasoning: 0, structure: 0, relevance: 0 };
    const debate = { arguments: 0.5, consistency: 0, coverage: 0 };
    const judgement = await judge(helmets, { pro: [helmets.pro[1] as string] }, { weights: { argument, debate } });
    expect(value(judgement, "pro")).toBe(1);
  });

  test.each([
    [{ weights: { debate: { arguments: 0, consistency: 0, coverage: 0 } } }, /needs a weight above 0/],
    [{ length: [500, 100] }, /smaller number first/],
    [{ weights: { argument: { wit: 1 } } }, /wit/],
  ])("%j is refused", async (given, message) => {
    const outcome = await plugin.options?.["~standard"].validate(given);
    expect(JSON.stringify(outcome?.issues)).toMatch(message);
  });

  test("a phrase file judges another language", async () => {
    const phrases = join(directory, "de.json");
    writeFileSync(
      phrases,
      JSON.stringify({
        language: "de",
        function_words:
          "der die das und in zu den nicht von sie ist des sich mit dem dass er es ein eine auf für als auch an im nach bei einen um am noch wie aber aus wenn nur war werden wird sind oder so man weil wer seit".split(
            " ",
          ),
        generic: ["wichtig", "Thema", "Meinung"],
        evidence: ["laut", "Studie", "Studien", "zum Beispiel"],
        reasoning: ["weil", "deshalb", "daher"],
        structure: ["erstens", "außerdem", "aber"],
        concession: ["ich gebe auf"],
        endings: ["en", "er", "e", "n", "s"],
      }),
    );
    const topic: Topic = {
      question: "Städte sollen das Parken in der Innenstadt verbieten.",
      background: "Viele Städte haben enge Straßen mit vielen Autos.",
      keyPoints: { pro: ["Weniger Autos machen die Luft sauber."], con: ["Läden verlieren Kunden."] },
      pro: [
        "Laut einer Studie aus Gent kaufen Fußgänger öfter ein als Autofahrer, weil sie an jedem Schaufenster in den Straßen vorbeigehen. Die Händler dort wollten erst klagen, aber nach zwei Jahren war der Umsatz höher.",
      ],
      con: ["Studie weil laut deshalb Parken Innenstadt Städte verbieten Studie daher zum Beispiel weil Autos."],
    };
    const judgement = await judge(topic, {}, { phrases });
    expect(judgement.verdict).toBe("pro");
    expect(value(judgement, "pro")).toBeGreaterThan(0.4);
    expect(value(judgement, "con")).toBeLessThan(0.05);
  });

  test.each([
    ["no file", undefined, /cannot be read/],
    ["no JSON", "{", /is not JSON/],
    ["another form", '{"language": "de"}', /is not a phrase file.*function_words/s],
  ])("a phrase file that is %s is refused", (_name, text, message) => {
    const path = join(directory, "bad.json");
    rmSync(path, { force: true });
    if (text !== undefined) writeFileSync(path, text);
    expect(() => rulesJudge({ phrases: path })).toThrow(message);
  });
});

test("a long argument of stops or repeated sentences is judged in time linear in its length", async () => {
  for (const text of [".\n".repeat(200_000), "Public transport because cities need trains. ".repeat(9_000)]) {
    const judgement = await judge(helmets, { pro: [text] });
    expect(value(judgement, "pro")).toBeLessThan(0.2);
  }
});
