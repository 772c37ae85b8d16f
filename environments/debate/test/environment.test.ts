import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import {
  type Action,
  type JsonObject,
  type Judge,
  type Judgement,
  type JudgeRequest,
  messageText,
  type Reward,
  score,
  type StepResult,
  textMessage,
  unscored,
} from "@mrlm/kit";
import { bareEnvironment } from "@mrlm/testing";
import fc from "fast-check";
import { debate } from "../src/index.ts";
import { propositions } from "../src/propositions.ts";

const directory = mkdtempSync(join(tmpdir(), "mrlm-debate-"));
afterAll(() => rmSync(directory, { recursive: true }));
const signal = new AbortController().signal;

const judgement = (pro: Reward, con: Reward): Judgement => ({ rewards: { pro, con }, verdict: "tie", reason: "none" });

/** Judge with one judgement after the other, the last one for all further requests. It keeps its requests. */
function judgeOf(...judgements: readonly Judgement[]): Judge & { readonly requests: JudgeRequest[] } {
  const requests: JudgeRequest[] = [];
  return {
    requests,
    judge: async (request) => {
      requests.push(request);
      return judgements[Math.min(requests.length, judgements.length) - 1] as Judgement;
    },
  };
}

/** Plays a debate. `replies` are texts in the order of the steps, or actions. */
async function play(
  options: JsonObject,
  replies: readonly (string | Partial<Action>)[],
  judge: Judge = judgeOf(judgement(score(1), score(0))),
) {
  const { context, options: parsed } = await bareEnvironment(debate, options, {
    judges: { "rules@1": judge, "llm@2": judge },
  });
  const environment = await debate.create(context as never, parsed);
  let observation = await environment.reset({ task: "train/0", signal });
  const shown: [agent: string, text: string][] = [];
  const steps: StepResult[] = [];
  for (const reply of replies) {
    const { agent } = observation;
    shown.push([agent, observation.messages.map(messageText).join("\n")]);
    const given = typeof reply === "string" ? { message: textMessage("assistant", reply) } : reply;
    const action: Action = { agent, message: { role: "assistant", parts: [] }, finishReason: "stop", ...given };
    const step = await environment.step(action, { signal });
    steps.push(step);
    ({ observation } = step);
    if (observation.agent === "") break;
  }
  return { shown, steps, last: steps.at(-1) as StepResult, context };
}

const eight = ["p1", "c1", "p2", "c2", "p3", "c3", "p4", "c4"];
const totalOf = (steps: readonly StepResult[], agent: string): number =>
  steps.reduce((sum, { rewards }) => {
    const reward = rewards[agent];
    return sum + (reward === undefined ? 0 : reward.scored ? reward.value : Number.NaN);
  }, 0);

describe("turns", () => {
  test("alternate, and each side receives what is new", async () => {
    const { shown, last } = await play({ turns: 3 }, eight);
    expect(shown.map(([agent]) => agent)).toEqual(["pro", "con", "pro", "con", "pro", "con"]);
    expect(shown[0]?.[1]).toMatch(/You argue for it\. Each side has 3 turns\./);
    expect(shown[0]?.[1]).not.toMatch(/The other side wrote/);
    expect(shown[1]?.[1]).toMatch(/You argue against it[^]*The other side wrote:\np1$/);
    expect(shown[2]?.[1]).toBe("The other side wrote:\nc1");
    expect(shown[5]?.[1]).toBe("The other side wrote:\np3\nThis is your last turn.");
    expect(last.terminated).toEqual({ pro: true, con: true });
  });

  test("are simultaneous: neither side receives a round before both have written theirs", async () => {
    const { shown } = await play({ turns: 3, order: "simultaneous" }, eight);
    const received = shown.map(([agent, text]) => [agent, /wrote:\n(.*)/.exec(text)?.[1]]);
    expect(received).toEqual([
      ["pro", undefined],
      ["con", undefined],
      ["pro", "c1"],
      ["con", "p1"],
      ["pro", "c2"],
      ["con", "p2"],
    ]);
  });

  test("are six for each side by default", async () => {
    const { steps } = await play({}, Array(20).fill("x"));
    expect(steps).toHaveLength(12);
  });

  test("that are empty are shown and judged as such; long ones are cut for both, not within a character", async () => {
    const judge = judgeOf(judgement(score(1), score(0)));
    const long = `${"a".repeat(19)}😀 tail`;
    const { shown, last } = await play(
      { turns: 2, max_characters: 20 },
      [" \n", long, { message: { role: "assistant", parts: [] } }, "x"],
      judge,
    );
    expect(shown[1]?.[1]).toMatch(/The other side gave no argument\.$/);
    expect(shown[2]?.[1]).toBe(`The other side wrote:\n${"a".repeat(19)}\nThis is your last turn.`);
    expect(judge.requests[0]?.turns.map(({ agent, message }) => [agent, messageText(message)])).toEqual([
      ["pro", ""],
      ["con", "a".repeat(19)],
      ["pro", ""],
      ["con", "x"],
    ]);
    expect(last.rewards).toMatchObject({
      pro: { components: { empty: 2, cut: 0 } },
      con: { components: { empty: 0, cut: 1 } },
    });
  });

  test("of a side whose context is full are empty, and the debate ends", async () => {
    for (const order of ["alternating", "simultaneous"]) {
      const judge = judgeOf(judgement(score(0.25), score(0.5)));
      const { last } = await play({ turns: 3, order }, ["p1", "c1", "p2", { finishReason: "exhausted" }], judge);
      expect(judge.requests[0]?.turns.map(({ agent, message }) => `${agent}:${messageText(message)}`)).toEqual([
        "pro:p1",
        "con:c1",
        "pro:p2",
        "con:",
        "con:",
      ]);
      expect(last).toMatchObject({
        observation: { agent: "" },
        terminated: { pro: true, con: false },
        truncated: { pro: false, con: true },
        rewards: { pro: { value: -0.25 }, con: { value: 0.25, components: { empty: 2 } } },
      });
    }
  });
});

describe("rewards", () => {
  const value = fc.double({ min: 0, max: 1, noNaN: true });

  test("that are zero-sum add to exactly 0, at the end and by step", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(value, value), { minLength: 8, maxLength: 8 }),
        fc.constantFrom("end", "step"),
        fc.constantFrom("alternating", "simultaneous"),
        async (scores, when, order) => {
          const judge = judgeOf(...scores.map(([pro, con]) => judgement(score(pro), score(con))));
          const { steps } = await play({ turns: 4, order, rewards: { when } }, eight, judge);
          expect(totalOf(steps, "pro") + totalOf(steps, "con")).toBe(0);
          for (const { rewards } of steps) {
            const { pro, con } = rewards as Record<string, any>;
            if (pro !== undefined) expect(pro.value + con.value).toBe(0);
          }
          const [pro, con] = scores[judge.requests.length - 1] as [number, number];
          expect(totalOf(steps, "pro")).toBeCloseTo(pro - con, 12);
        },
      ),
      { numRuns: 50 },
    );
  });

  test.each([
    ["zero_sum", -0.5, 0.5],
    ["individual", 0.25, 0.75],
    ["cooperative", 0.5, 0.5],
  ])("of kind %s, with the scores as components", async (kind, pro, con) => {
    const judge = judgeOf(judgement(score(0.25), score(0.75)));
    for (const when of ["end", "step"]) {
      const { steps, last } = await play({ turns: 2, rewards: { kind, when } }, eight, judge);
      expect([totalOf(steps, "pro"), totalOf(steps, "con")]).toEqual([pro, con]);
      const given = steps.filter(({ rewards }) => Object.keys(rewards).length > 0);
      expect(given).toHaveLength(when === "end" ? 1 : 4);
      expect((last.rewards["pro"] as any).components).toEqual({
        score: when === "end" ? 0.25 : 0,
        opponent: when === "end" ? 0.75 : 0,
        empty: 0,
        cut: 0,
      });
    }
  });

  test("of simultaneous rounds are judged after both have written", async () => {
    const judge = judgeOf(judgement(score(0.25), score(0.75)));
    const { steps } = await play({ turns: 2, order: "simultaneous", rewards: { when: "step" } }, eight, judge);
    expect(steps.map(({ rewards }) => Object.keys(rewards).length)).toEqual([0, 2, 0, 2]);
    expect(judge.requests.map(({ turns }) => turns.length)).toEqual([2, 4]);
  });

  test("of an unscored judgement are unscored, never 0, and the judge is not asked again", async () => {
    const failed = unscored("SCORER_FAILED", "gone");
    const silent = judgeOf(judgement(failed, failed));
    for (const kind of ["zero_sum", "individual", "cooperative"]) {
      const atEnd = await play({ turns: 1, rewards: { kind } }, eight, silent);
      expect(atEnd.last.rewards).toEqual({ pro: failed, con: failed });
    }
    const judge = judgeOf(judgement(score(0.5), score(0.5)), judgement(failed, failed), judgement(score(1), score(0)));
    const { steps } = await play({ turns: 2, rewards: { when: "step" } }, eight, judge);
    expect(steps.map(({ rewards }) => rewards["pro"]?.scored)).toEqual([true, false, false, false]);
    expect(judge.requests).toHaveLength(2);
  });

  test("need both scores, unless each side has its own", async () => {
    const failed = unscored("SCORER_FAILED", "gone");
    const half = judgement(score(0.5), failed);
    for (const kind of ["zero_sum", "cooperative"]) {
      const { last } = await play({ turns: 1, rewards: { kind } }, eight, judgeOf(half));
      expect(last.rewards).toEqual({ pro: failed, con: failed });
    }
    const judge = judgeOf(judgement(score(0.25), score(0.25)), half, judgement(score(0.75), score(1)));
    const { steps } = await play({ turns: 2, rewards: { kind: "individual", when: "step" } }, eight, judge);
    expect(totalOf(steps, "pro")).toBe(0.75);
    expect(totalOf(steps, "con")).toBeNaN();
  });
});

describe("the judge", () => {
  test("is the one of the option, and receives the proposition, the task and its options", async () => {
    const judge = judgeOf(judgement(score(1), score(0)));
    const options = { turns: 1, judge: "judge:llm@2", judge_options: { rubric: "short" } };
    await play(options, eight, judge);
    const [request] = judge.requests;
    expect(request).toMatchObject({ agents: ["pro", "con"], options: { rubric: "short" } });
    expect(request?.question).toBe(request?.task.public["question"]);
    expect(request?.task.private).toMatchObject({ key_points: { pro: expect.any(Array), con: expect.any(Array) } });
    const parsed = (await debate.options?.["~standard"].validate(options)) as any;
    const requires = debate.requires as (context: unknown, options: unknown) => readonly { readonly id: string }[];
    expect(requires(undefined, parsed.value)).toEqual([{ id: "judge:llm@2", asker: "the option `judge` of debate@1" }]);
  });
});

describe("tasks", () => {
  test("are the built-in propositions, each whole, in two splits that follow the seed", async () => {
    expect(propositions.length).toBeGreaterThanOrEqual(60);
    expect(new Set(propositions.map(({ question }) => question)).size).toBe(propositions.length);
    for (const { question, background, pro, con } of propositions) {
      expect(question).toMatch(/^\p{Lu}.*\.$/u);
      expect(background.split(" ").length).toBeGreaterThan(10);
      expect([pro.length, con.length]).toEqual([3, 3]);
    }
    const sourceOf = async (options: JsonObject) => (await bareEnvironment(debate, options, {})).tasks;
    const first = await sourceOf({});
    expect(first.splits).toEqual({ train: 51, eval: 13 });
    const other = await sourceOf({ task_seed: 1 });
    const namesOf = async (source: typeof first) =>
      Promise.all(Array.from({ length: 13 }, async (_, i) => (await source.get("eval", i)).public["question"]));
    expect(await namesOf(other)).not.toEqual(await namesOf(first));
  });

  const file = (...rows: readonly unknown[]): string => {
    const path = join(directory, "rows.jsonl");
    writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
    return path;
  };
  test("come from a file", async () => {
    const path = file(
      {
        proposition: "Tea is better than coffee.",
        background: "Both have caffeine.",
        key_points: { pro: ["Tea calms."] },
      },
      { question: "Cats are better than dogs." },
    );
    const { tasks } = await bareEnvironment(debate, { data: { path, eval_share: 0.5 } }, {});
    expect(tasks.splits).toEqual({ train: 1, eval: 1 });
    const both = [await tasks.get("train", 0), await tasks.get("eval", 0)].map(
      ({ public: shown }) => shown["question"],
    );
    expect(both.toSorted()).toEqual(["Cats are better than dogs.", "Tea is better than coffee."]);
  });

  test.each<[string, unknown, RegExp]>([
    ["without a proposition", { background: "x" }, /rows\.jsonl:1: proposition: /],
    ["that is a text", "x", /rows\.jsonl:1: the row is no object/],
    ["with both names", { proposition: "x", question: "y" }, /both `question` and `proposition`/],
    ["with other key points", { proposition: "x", key_points: { pro: "y" } }, /rows\.jsonl:1: key_points\.pro/],
  ])("a row %s is refused with its line", async (_name, row, message) => {
    await expect(bareEnvironment(debate, { data: { path: file(row) } }, {})).rejects.toThrow(message);
  });

  test.each<[JsonObject, RegExp]>([
    [{ turns: 0 }, /turns/],
    [{ judge: "LLM" }, /must be the id of a judge/],
    [{ rewards: { kind: "shared" } }, /kind/],
    [{ data: { path: "x" }, eval_share: 0.1 }, /has no effect on tasks from a file/],
  ])("options %j are refused", async (options, message) => {
    await expect(bareEnvironment(debate, options, {})).rejects.toThrow(message);
  });
});
