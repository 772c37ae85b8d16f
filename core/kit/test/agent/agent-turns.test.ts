import { expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/kit";
import type { AgentModel } from "../../src/agent.ts";
import { assistant, chat, environment, play, user } from "./support/play.ts";

const turnsOf = (info: unknown): JsonObject[] => (info as { agent: { turns: JsonObject[] } }).agent.turns;

/** Begins a streamed call, whose answer the program does not read. */
async function begin(model: AgentModel, text: string): Promise<() => void> {
  const client = new AbortController();
  const headers = { authorization: `Bearer ${model.apiKey}` };
  const body = JSON.stringify({ model: model.name, messages: [user(text)], stream: true });
  const url = `${model.baseURL}/chat/completions`;
  await model.fetch(url, { method: "POST", headers, body, signal: client.signal });
  return () => client.abort();
}

test("the last info has the call of each turn, with its retries, and the reason for which an answer was not read", async () => {
  const observed = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const left = Promise.withResolvers<void>();
  const definition = environment({
    roles: { one: {}, two: {}, three: {} },
    async run({ model }) {
      await chat(model, { messages: [user("a")] });
      await chat(model, { messages: [user("a")] }, { headers: { "x-stainless-retry-count": "1" } });
      await begin(model, "b");
      await chat(model, { messages: [user("c")] });
      const leave = await begin(model.role("two"), "d");
      await observed[3]?.promise;
      leave();
      left.resolve();
      await begin(model.role("three"), "e");
      // The turn of the last call begins after the program has read the answer of this one.
      await chat(model, { messages: [user("c"), { role: "assistant", content: "answer 2" }, user("f")] });
    },
  });
  const { last } = await play(definition, async (_, i) => {
    observed[i]?.resolve();
    if (i === 3) await left.promise;
    return assistant(`answer ${i}`);
  });
  const turns = turnsOf(last.info);
  expect(turns.map(({ call, match, parent, unread }) => [call, match, parent, unread])).toEqual([
    [0, "first", null, undefined],
    [2, "forked", null, "superseded"],
    [3, "forked", null, undefined],
    [4, "first", null, "aborted"],
    [5, "first", null, "after-end"],
    [6, "continues", 3, undefined],
  ]);
  expect(turns.map(({ retries }) => (retries as number[]).length)).toEqual([1, 0, 0, 0, 0, 0]);
  for (const { at, seconds } of turns) expect([Number(at) >= 0, Number(seconds) >= 0]).toEqual([true, true]);
  const times = turns.map(({ at }) => Number(at));
  expect(times.toSorted((a, b) => a - b)).toEqual(times);
});
