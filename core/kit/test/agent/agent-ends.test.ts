import { expect, jest, test } from "@jest/globals";
import { type JsonObject, MrlmError, score } from "@mrlm/kit";
import type { AgentEnding, AgentModel } from "../../src/agent.ts";
import { assistant, chat, environment, open, play, user } from "./support/play.ts";

const infoOf = (info: unknown): JsonObject => (info as { agent: JsonObject }).agent;

test("case h: a program without a call fails; one that throws later, or meets a limit, is scored", async () => {
  const silent = environment({ run: () => Promise.reject(new TypeError("no key", { cause: new Error("ENOTFOUND") })) });
  await expect(play(silent)).rejects.toMatchObject({
    code: "AGENT_FAILED",
    message: "The program ended before its first call: TypeError: no key; Error: ENOTFOUND",
  });
  await expect(play(environment({ run: () => {} }))).rejects.toMatchObject({ code: "AGENT_FAILED" });

  const ends: AgentEnding<unknown, JsonObject, JsonObject>["end"][] = [];
  const failing = environment({
    async run({ model }) {
      await chat(model, { messages: [user("1")] });
      throw new Error("cannot parse");
    },
    rewardRange: [-1, 1],
    score: ({ end }) => void ends.push(end),
  });
  const { last } = await play(failing);
  expect(last).toMatchObject({ rewards: { agent: score(-1) }, terminated: { agent: true } });
  expect(infoOf(last.info)).toMatchObject({ failed: 1, limited: 0 });

  const endless = environment({
    limits: { calls: 3 },
    async run({ model }) {
      for (;;) {
        const { status, body } = await chat(model, { messages: [user("again")] });
        if (status !== 200) return body.error.code;
      }
    },
    score: ({ end }) => (ends.push(end), 0.5),
  });
  const limited = await play(endless);
  expect(limited.observations).toHaveLength(3);
  expect(limited.last).toMatchObject({ rewards: { agent: score(0.5) }, truncated: { agent: true }, terminated: {} });
  expect(infoOf(limited.last.info)).toMatchObject({ limited: 1, call_limited: 1, abandoned: 0, refused: 1 });

  const hanging = environment({
    async run({ model }) {
      await chat(model, { messages: [user("1")] });
      await jest.advanceTimersByTimeAsync(300_000);
      await new Promise(() => {});
    },
    score: ({ end }) => (ends.push(end), 0),
  });
  jest.useFakeTimers({ doNotFake: ["performance", "setImmediate", "nextTick", "queueMicrotask"] });
  const hung = await play(hanging);
  jest.useRealTimers();
  expect(infoOf(hung.last.info)).toMatchObject({ limited: 1, call_limited: 0, abandoned: 1 });
  expect(ends).toEqual([
    { kind: "failed", error: "Error: cannot parse" },
    { kind: "limit", limit: "calls" },
    { kind: "limit", limit: "seconds" },
  ]);
});

test("case i: the program learns of a cut answer and of a full context; the next agent of the role continues", async () => {
  for (const many of [true, false]) {
    let sent: unknown[] = [];
    const definition = environment({
      roles: { main: { many }, other: {} },
      limits: { callTokens: 50 },
      async run({ model }) {
        const one = await chat(model, { messages: [user("1")], max_tokens: 9 });
        const two = await chat(model, { messages: [user("1"), { role: "assistant", content: "cut" }, user("2")] });
        const three = await chat(model, { messages: [user("1"), user("shorter")], max_tokens: 99 });
        sent = [one.body.choices[0].finish_reason, two.status, two.body.error.code, three.status];
      },
    });
    const { observations } = await play(definition, (_, i) =>
      i === 0 ? { message: assistant("cut"), finishReason: "length" } : i === 1 ? "exhausted" : assistant("done"),
    );
    expect(sent).toEqual(["length", 400, "context_length_exceeded", many ? 200 : 400]);
    expect(observations.map(({ agent, maxTokens }) => [agent, maxTokens])).toEqual([
      [many ? "main#1" : "main", 9],
      [many ? "main#1" : "main", 50],
      ...(many ? [["main#2", 50]] : []),
    ]);
  }
});

test("a key of another episode, and calls after the end, are refused", async () => {
  let model: AgentModel | undefined;
  const other = await open(
    environment({ run: async (run) => void (await chat(run.model, { messages: [user("1")] })) }),
  );
  const definition = environment({
    async run(run) {
      ({ model } = run);
      const refused = await chat({ ...run.model, apiKey: "other" }, { messages: [user("1")] });
      expect([refused.status, refused.body.error.code]).toEqual([401, "invalid_api_key"]);
      await chat(run.model, { messages: [user("2")] });
    },
  });
  const { observations } = await play(definition);
  expect(observations).toHaveLength(1);
  expect((await chat(model as AgentModel, { messages: [user("3")] })).status).toBe(401);
  await other.close?.();
});

test("limits of the body and of waiting calls", async () => {
  let statuses: number[] = [];
  const definition = environment({
    limits: { waiting: 2, bodyBytes: 1_000 },
    roles: { main: { many: true } },
    async run({ model }) {
      const { baseURL } = await model.listen();
      const large = { messages: [user("x".repeat(2_000))] };
      const sizes = [await chat(model, large), await chat(model, large, { baseURL })];
      const many = await Promise.all(["1", "2", "3"].map((text) => chat(model, { messages: [user(text)] })));
      statuses = [...sizes, ...many].map(({ status }) => status);
    },
  });
  await play(definition);
  expect(statuses).toEqual([413, 413, 200, 200, 429]);
});

test("an unscored episode: score throws, returns too little, or a service of the program fails", async () => {
  const run = async ({ model }: { model: AgentModel }): Promise<void> =>
    void (await chat(model, { messages: [user("1")] }));
  const codeOf = async (score: () => never): Promise<unknown> =>
    (await play(environment({ run, score }))).last.rewards["agent"];
  expect(
    await codeOf(() => {
      throw new Error("no");
    }),
  ).toMatchObject({ scored: false, code: "AGENT_SCORE_FAILED" });
  expect(await codeOf(() => ({ other: 1 }) as never)).toMatchObject({ scored: false, code: "AGENT_SCORE_FAILED" });
  expect(await codeOf(() => Number.NaN as never)).toMatchObject({ scored: false, code: "AGENT_SCORE_FAILED" });
  expect(await codeOf(() => undefined as never)).toMatchObject({ scored: false, code: "AGENT_SCORE_FAILED" });
  const broken = environment({
    async run({ model }) {
      await run({ model });
      throw new MrlmError("TOOL_FAILED", "The tool is broken.");
    },
  });
  await expect(play(broken)).rejects.toMatchObject({ code: "TOOL_FAILED" });
});

test("an unknown role is refused, and an ended episode opens no address", async () => {
  const run = async ({ model }: { model: AgentModel }): Promise<void> =>
    void (await chat(model, { messages: [user("1")], max_tokens: 2 ** 40 }));
  const calls = [{ when: {}, role: "other" }];
  expect(() => environment({ run, calls })).toThrow('no role "other"');
  let model: AgentModel | undefined;
  const definition = environment({
    async run(episode) {
      ({ model } = episode);
      expect(() => episode.model.role("worker")).toThrow('no role "worker". Its roles: agent.');
      await run(episode);
    },
  });
  expect((await play(definition)).observations[0]).not.toHaveProperty("maxTokens");
  await expect(model?.listen()).rejects.toMatchObject({ code: "AGENT_LISTEN_FAILED" });
});

test("an error of `open` after the close of its episode is a cancellation, and before it the error", async () => {
  const failed = Promise.withResolvers<never>();
  const opens = Promise.withResolvers<void>();
  const closing = await open(environment({ open: () => (opens.resolve(), failed.promise), run: () => {} }));
  const begun = closing.reset({ task: "train/0", signal: new AbortController().signal });
  await opens.promise;
  await closing.close?.();
  failed.reject(new Error("its socket is gone"));
  await expect(begun).rejects.toMatchObject({ code: "CANCELLED" });
  const failing = environment({ open: () => Promise.reject(new Error("no image")), run: () => {} });
  await expect(play(failing)).rejects.toThrow("no image");
});
