import { expect, test } from "@jest/globals";
import { type JsonObject, type Observation, textMessage } from "@mrlm/kit";
import type { AgentModel } from "../../src/agent.ts";
import { openaiChat } from "../../src/gateway/openai-chat.ts";
import { reply } from "../../src/gateway/reply.ts";
import { assistant, chat, environment, play, user } from "./support/play.ts";

const counts = (info: unknown): JsonObject => (info as { agent: JsonObject }).agent;
const contentOf = ({ body }: { body: any }): string => body.choices[0].message.content;
const messages = [user("1")];

/** Opens a request and returns a function that drops its connection. */
async function dropped(model: AgentModel, body: object, baseURL: string | undefined): Promise<() => Promise<void>> {
  const client = new AbortController();
  const sent = chat(model, body, { signal: client.signal, ...(baseURL !== undefined && { baseURL }) });
  sent.catch(() => undefined);
  return async () => {
    client.abort();
    await expect(sent).rejects.toMatchObject({ name: "AbortError" });
  };
}

test.each([false, true])("a call whose client has left is answered once (socket: %s)", async (isSocket) => {
  for (const stream of [false, true]) {
    let drop: (() => Promise<void>) | undefined;
    const contents: string[] = [];
    const isObserved = Promise.withResolvers<void>();
    const isDropped = Promise.withResolvers<void>();
    const definition = environment({
      async run({ model }) {
        const baseURL = isSocket ? (await model.listen()).baseURL : undefined;
        const more = baseURL === undefined ? {} : { baseURL };
        drop = await dropped(model, { messages, stream }, baseURL);
        await isObserved.promise;
        await drop();
        // The gateway learns of the closed connection before a later request over a new one has its response.
        if (baseURL !== undefined) await fetch(`${baseURL}/models`, { headers: { connection: "close" } });
        isDropped.resolve();
        const retried = await chat(model, { messages, stream }, more);
        contents.push(stream ? retried.body[0].choices[0].delta.content : contentOf(retried));
        const asked = await chat(model, { messages: [...messages, assistantOf("answer 0"), user("2")] }, more);
        contents.push(contentOf(asked));
      },
    });
    const { observations, last } = await play(definition, async (_, i) => {
      if (i === 0) {
        isObserved.resolve();
        await isDropped.promise;
      }
      return textMessage("assistant", `answer ${i}`);
    });
    expect(contents).toEqual(["answer 0", "answer 1"]);
    expect(observations.map(({ messages: shown }) => shown.length)).toEqual([1, 1]);
    expect(counts(last.info)).toMatchObject({ retried: 1, segments: 1, calls: 2 });
  }
});

const assistantOf = (content: string) => ({ role: "assistant", content });

test("a retry by its header gets the stored answer; the same body without one is another call", async () => {
  const contents: string[] = [];
  const definition = environment({
    async run({ model }) {
      const retry = { headers: { "x-stainless-retry-count": "1" } };
      for (const more of [{}, retry, {}, retry]) contents.push(contentOf(await chat(model, { messages }, more)));
      contents.push(contentOf(await chat(model, { messages: [user("never sent")] }, retry)));
    },
  });
  const { last } = await play(definition);
  expect(contents).toEqual(["answer 0", "answer 0", "answer 1", "answer 1", "answer 2"]);
  expect(counts(last.info)).toMatchObject({ calls: 3, retried: 2, forked: 2, segments: 3 });
});

test("equal calls that are made together are two, and a retry joins the one that waits", async () => {
  const definition = environment({
    roles: { main: { many: true } },
    async run({ model }) {
      const calls = [{}, {}, { headers: { "x-stainless-retry-count": "1" } }];
      const sent = await Promise.all(calls.map((more) => chat(model, { messages }, more)));
      return sent.map(contentOf);
    },
    score: ({ end }) => (JSON.stringify(end) === JSON.stringify({ kind: "returned", result: EXPECTED }) ? 1 : 0),
  });
  const EXPECTED = ["answer 0", "answer 1", "answer 1"];
  const { observations, last } = await play(definition);
  expect(observations.map(({ agent }) => agent)).toEqual(["main#1", "main#2"]);
  expect(last.rewards).toMatchObject({ "main#1": { value: 1 }, "main#2": { value: 1 } });
});

test("the retry of a refused call is a call of its own, also beside others with equal bodies", async () => {
  let contents: string[] = [];
  const definition = environment({
    limits: { waiting: 1 },
    roles: { main: { many: true } },
    async run({ model }) {
      const send = async (): Promise<string> => {
        for (let tries = 0; ; tries++) {
          const sent = await chat(
            model,
            { messages },
            tries === 0 ? {} : { headers: { "x-stainless-retry-count": "1" } },
          );
          if (sent.status === 200) return contentOf(sent);
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      contents = await Promise.all([send(), send(), send()]);
    },
  });
  const { last } = await play(definition);
  expect(contents.toSorted()).toEqual(["answer 0", "answer 1", "answer 2"]);
  expect(counts(last.info)).toMatchObject({ retried: 0 });
});

test("a call that its client leaves while it is queued is not sampled", async () => {
  const shown: Observation[] = [];
  const gate = Promise.withResolvers<void>();
  const definition = environment({
    roles: { main: { many: true } },
    async run({ model }) {
      const first = chat(model, { messages });
      const drop = await dropped(model, { messages: [user("left")] }, undefined);
      // The first call is an observation, and the second one waits.
      await gate.promise;
      await drop();
      await chat(model, { messages: [user("2")] });
      await first;
    },
  });
  const { observations } = await play(definition, async (observation, i) => {
    shown.push(observation);
    gate.resolve();
    if (i === 0) await new Promise((resolve) => setImmediate(resolve));
    return assistant(`answer ${i}`);
  });
  expect(observations.map(({ messages: [message] }) => message)).toEqual([
    textMessage("user", "1"),
    textMessage("user", "2"),
  ]);
});

test("the end of an episode answers the calls that wait", async () => {
  let late: Promise<unknown> | undefined;
  const definition = environment({
    roles: { main: { many: true } },
    async run({ model }) {
      await chat(model, { messages });
      late = Promise.all(["2", "3"].map((text) => chat(model, { messages: [user(text)] })));
    },
  });
  await play(definition);
  const statuses = (await late) as { status: number }[];
  for (const { status } of statuses) expect([401, 503]).toContain(status);
});

test("a response that waits for its answer shows that it is alive", async () => {
  for (const isStream of [true, false]) {
    const answer = Promise.withResolvers<readonly string[]>();
    const ended: boolean[] = [];
    const response = await reply(answer.promise, {
      isStream,
      codec: openaiChat,
      signal: new AbortController().signal,
      times: { beginMs: 1, everyMs: 1 },
      onEnd: (isRead) => ended.push(isRead),
    });
    expect(response.status).toBe(200);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const read = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString();
    const sign = isStream ? ": waiting\n\n" : " ";
    expect([await read(), await read()]).toEqual([sign, sign]);
    answer.resolve(["{", "}"]);
    let text = "";
    for (let part = await read(); part !== ""; part = await read()) text += part;
    expect([text.replaceAll(sign, ""), ended]).toEqual(["{}", [true]]);
  }
});

test("an error after the begin is an event of a stream, and ends the connection of another response", async () => {
  for (const isStream of [true, false]) {
    const answer = Promise.withResolvers<readonly string[]>();
    const response = await reply(answer.promise, {
      isStream,
      codec: openaiChat,
      signal: new AbortController().signal,
      times: { beginMs: 1, everyMs: 60_000 },
      onEnd: () => undefined,
    });
    const text = response.text();
    answer.reject(new Error("gone"));
    if (isStream) expect(JSON.parse((await text).slice(6))).toMatchObject({ error: { code: "server_error" } });
    else await expect(text).rejects.toThrow("gone");
  }
});
