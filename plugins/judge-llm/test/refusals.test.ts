/** An agent cannot avoid its grade: neither by a text that the model or its filter refuses, nor by one that is too long (U2). */
import { afterEach, describe, expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { type ChatServerReply, type ChatServerRequest } from "@mrlm/testing";
import { closeAll, comparison, debate, judgeOf, never, scorerOf, serve } from "./support/judge.ts";

afterEach(closeAll);

const error =
  (code: string): ChatServerReply =>
  (response) =>
    void response.writeHead(400).end(JSON.stringify({ error: { message: "no", code } }));
const REFUSALS: readonly [string, ChatServerReply][] = [
  ["a refusal", { message: { content: null, refusal: "No." } }],
  ["a filtered output", { message: { content: "" }, finishReason: "content_filter" }],
  ["a filtered prompt", error("content_filter")],
];
const refusal = REFUSALS[0]![1];
const unscored = { scored: false, code: "ENDPOINT_OUTPUT_FILTERED" };
const textsOf = ({ body }: ChatServerRequest): string => body.messages.map(({ content }) => content).join("\n");
const points = JSON.stringify({ reasons: "r", scores: { reasoning: 6, evidence: 6, responsiveness: 6 }, overall: 6 });
const graded = JSON.stringify({ reasons: "r", score: 10, verdict: "equivalent" });

describe("a refusal", () => {
  test("is asked about once more, and the second answer counts", async () => {
    const server = await serve((asked, index) => (index < 2 ? refusal : comparison(asked, "pro")));
    const judged = await (await judgeOf(server)).judge(debate("a", "b"), { signal: never });
    expect(judged).toMatchObject({ verdict: "pro", detail: { usage: { asked_again: 2 } } });
    expect(server.requests).toHaveLength(4);
  });

  test.each(REFUSALS)("pairwise, %s: the side that causes it loses, and the other one wins", async (_name, reply) => {
    const server = await serve((asked) => (textsOf(asked).includes("bomb") ? reply : comparison(asked, "con")));
    const judge = await judgeOf(server);
    const judged = await judge.judge(debate("Cars pollute.", "bomb"), { signal: never });
    expect(judged).toMatchObject({ verdict: "pro", rewards: { pro: { value: 1 }, con: { value: 0 } } });
    expect(judged.reason).toContain("refuses the text of con");
    const both = await judge.judge(debate("bomb", "bomb"), { signal: never });
    expect(both).toMatchObject({ verdict: "undecided", rewards: { pro: { value: 0 }, con: { value: 0 } } });
  });

  test("pairwise, three agents: the others are compared without the refused text", async () => {
    const server = await serve((asked) => (textsOf(asked).includes("bomb") ? refusal : comparison(asked, "b")));
    const turns = ["bomb", "b", "c"].map((text, i) => ({ agent: "abc"[i]!, message: textMessage("assistant", text) }));
    const request = debate("", "", { agents: ["a", "b", "c"], turns });
    const { rewards, verdict } = await (await judgeOf(server)).judge(request, { signal: never });
    expect({ verdict, rewards }).toMatchObject({
      verdict: "b",
      rewards: { a: { value: 0 }, b: { value: 1 }, c: { value: 0.5 } },
    });
  });

  test("pointwise: 0 for the agent that causes it, and the other one is scored without its text", async () => {
    const server = await serve((asked) => (textsOf(asked).includes("bomb") ? refusal : points));
    const judge = await judgeOf(server, { mode: "pointwise" });
    const judged = await judge.judge(debate("bomb", "b"), { signal: never });
    expect(judged).toMatchObject({ verdict: "undecided", rewards: { pro: { value: 0 }, con: { value: 0.6 } } });
  });

  test("that the task causes, or no agent alone, is unscored", async () => {
    const ofTask = await serve(() => refusal);
    const together = await serve((asked) =>
      textsOf(asked).includes("bo1") && textsOf(asked).includes("mb2") ? refusal : comparison(asked, "con"),
    );
    for (const server of [ofTask, together]) {
      const { rewards } = await (await judgeOf(server)).judge(debate("bo1", "mb2"), { signal: never });
      expect(rewards).toMatchObject({ pro: unscored, con: unscored });
    }
  });

  test.each(REFUSALS)("scorer, %s: 0 unless the reference is refused too", async (_name, reply) => {
    const server = await serve((asked) => (textsOf(asked).includes("bomb") ? reply : graded));
    const scorer = await scorerOf(server);
    const grade = await scorer.score({ answer: "bomb", expected: "4" });
    expect(grade).toMatchObject({ reward: { scored: true, value: 0 }, verdict: "undecided" });
    expect((await scorer.score({ answer: "4", expected: "bomb" })).reward).toMatchObject(unscored);
  });
});

describe("a long text", () => {
  const tooLong = error("context_length_exceeded");
  const long = Array.from({ length: 20 }, (_, i) => ({
    agent: i % 2 === 0 ? "pro" : "con",
    message: textMessage("assistant", i % 2 === 0 ? "x".repeat(20_000) : "short"),
  }));

  test("of one agent is cut to its share of the conversation, and the texts of others are not", async () => {
    const server = await serve((asked) => comparison(asked, "con"));
    const judge = await judgeOf(server, { max_conversation_characters: 10_000 });
    const { detail } = await judge.judge(debate("", "", { turns: long }), { signal: never });
    expect(detail).toMatchObject({ cut_messages: 10 });
    const lines = textsOf(server.requests[0]!).split("\n");
    const texts = lines
      .filter((line) => line.startsWith('{"speaker"'))
      .map((line) => JSON.parse(line) as { text: string });
    expect(texts.map(({ text }) => text.length).filter((length) => length > 5)).toEqual(Array(10).fill(995));
    expect(texts.filter(({ text }) => text === "short")).toHaveLength(10);
  });

  test("is cut to half, and again, where the model cannot read so much", async () => {
    const server = await serve((asked) => (textsOf(asked).length > 20_000 ? tooLong : comparison(asked, "con")));
    const { verdict } = await (await judgeOf(server)).judge(debate("", "", { turns: long }), { signal: never });
    expect(verdict).toBe("con");
    const scoring = await serve((asked) => (textsOf(asked).length > 8_000 ? tooLong : graded));
    const grade = await (await scorerOf(scoring)).score({ answer: "x".repeat(20_000), expected: "4" });
    expect(grade).toMatchObject({ verdict: "equivalent", detail: { cut_characters: 15_000 } });
  });

  test("is unscored where the model cannot read the task", async () => {
    const server = await serve(() => tooLong);
    const { rewards } = await (await judgeOf(server)).judge(debate("", "", { turns: long }), { signal: never });
    expect(rewards).toMatchObject({
      pro: { scored: false, code: "ENDPOINT_CONTEXT_TOO_LONG" },
      con: { scored: false },
    });
    expect(server.requests.length).toBeLessThanOrEqual(16);
  });
});
