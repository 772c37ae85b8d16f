import { describe, expect, test } from "@jest/globals";
import { type Message, messageText, MrlmError, type PluginContext, textMessage } from "@mrlm/kit";
import { gradeConversation } from "../src/grade-conversation.ts";
import { rewardModelOptions } from "../src/options.ts";
import { RewardJudge } from "../src/reward-judge.ts";
import { RewardScorer } from "../src/reward-scorer.ts";
import { openSource, readScores, type ScoreSource } from "../src/score-source.ts";

const options = rewardModelOptions.parse({ model: "runs/scores" });
const { signal } = new AbortController();

/** Source that records the conversations, as `role: text`. */
function recording(scores: (messages: readonly Message[]) => readonly number[] | Error) {
  const asked: string[][] = [];
  const source: ScoreSource = {
    determinism: "full",
    async score(messages) {
      asked.push(messages.map((message) => `${message.role}: ${messageText(message)}`));
      const found = scores(messages);
      if (found instanceof Error) throw found;
      return found;
    },
    close: async () => undefined,
  };
  return { source, asked };
}

describe("a model that fails gives no reward, and no zero", () => {
  test.each(["ENGINE_UNAVAILABLE", "ENDPOINT_UNREACHABLE", "VALUE_HEAD_MISSING"] as const)(
    "%s is the cause of the unscored reward of a scorer and of a judge",
    async (code) => {
      const { source } = recording(() => new MrlmError(code, "it failed"));
      const grade = await new RewardScorer(source, options).score({ question: "q", answer: "a", expected: "" });
      expect(grade).toMatchObject({ reward: { scored: false, code }, verdict: "failed" });
      const turns = [{ agent: "pro", message: textMessage("assistant", "a") }];
      const request = { turns, agents: ["pro"], task: { id: "train/0", public: {}, private: {} } };
      const judgement = await new RewardJudge(source, options).judge(request, { signal });
      expect(judgement).toMatchObject({ rewards: { pro: { scored: false, code } }, verdict: "undecided" });
    },
  );

  test("an answer of an endpoint that is no score is refused", () => {
    expect(readScores("reward:-9.25")).toEqual([-9.25]);
    expect(readScores(" reward:0.5,1e-3")).toEqual([0.5, 0.001]);
    for (const text of ["", "0.5", "reward:", "reward:NaN", "reward:1,", "reward:high", "I cannot. reward:1"])
      expect(() => readScores(text)).toThrow(expect.objectContaining({ code: "ENDPOINT_OUTPUT_INVALID" }));
  });
});

test("the score is that of the last turn, or the smallest of all; its scale is stated", async () => {
  const { source } = recording(() => [-1, 3, 2]);
  const value = async (changes: object): Promise<unknown> => {
    const given = rewardModelOptions.parse({ model: "m", ...changes });
    const { reward } = await gradeConversation(source, [textMessage("assistant", "a")], given, { signal });
    return reward.scored && reward.value;
  };
  expect(await value({})).toBe(2);
  expect(await value({ steps: "min" })).toBe(-1);
  expect(await value({ scale: "sigmoid" })).toBeCloseTo(1 / (1 + Math.exp(-2)), 12);
});

test("an answer that is too long for an endpoint is scored by its end", async () => {
  const tooLong = new MrlmError("ENDPOINT_CONTEXT_TOO_LONG", "too long");
  const { source, asked } = recording((messages) =>
    messageText(messages.at(-1) as Message).length > 1_500 ? tooLong : [1],
  );
  const grade = await new RewardScorer(source, options).score({
    ...{ question: "q", answer: `${"x".repeat(5_000)}end`, expected: "" },
  });
  expect(grade.reward).toMatchObject({ scored: true, value: 1 });
  expect(asked.map((messages) => messages.at(-1)?.length)).toEqual([5_014, 2_512, 1_261]);
  expect(asked.at(-1)?.at(-1)?.endsWith("end")).toBe(true);
});

test("a judge reads the conversation as each agent had it, up to its last turn", async () => {
  const { source, asked } = recording((messages) => [messages.length]);
  const turn = (agent: string, text: string) => ({ agent, message: textMessage("assistant", text) });
  const request = {
    question: "topic",
    turns: [turn("pro", "p1"), turn("con", "c1"), turn("pro", "p2")],
    agents: ["pro", "con", "silent"],
    task: { id: "train/0", public: {}, private: {} },
  };
  const { rewards, verdict } = await new RewardJudge(source, options).judge(request, { signal });
  expect(asked).toEqual([
    ["user: topic", "assistant: p1", "user: c1", "assistant: p2"],
    ["user: topic\n\np1", "assistant: c1"],
    ["user: topic\n\np1\n\nc1\n\np2", "assistant: "],
  ]);
  expect([verdict, Object.keys(rewards)]).toEqual(["pro", ["pro", "con", "silent"]]);
});

test("options name one source, and the model is that of the context", async () => {
  for (const given of [{}, { model: "m", endpoint: { model: "x" } }])
    expect(rewardModelOptions.safeParse(given).success).toBe(false);
  const paths: string[] = [];
  const context = {
    rewardModel: (path: string) => (paths.push(path), { score: async () => [7] }),
  } as unknown as PluginContext;
  expect(await openSource(context, options).score([], { signal })).toEqual([7]);
  expect(paths).toEqual(["runs/scores"]);
});
