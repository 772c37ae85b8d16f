import { expect, test } from "@jest/globals";
import { type JsonObject, score, textMessage } from "@mrlm/kit";
import { assistant, call, chat, environment, play, TOOLS, user } from "./support/play.ts";

const system = { role: "system", content: "Help." };
const infoOf = (info: unknown): JsonObject => (info as { agent: JsonObject }).agent;

test("case a: a loop of calls with tools, streamed or not, over fetch or a socket, is one conversation", async () => {
  for (const [stream, isSocket] of [
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ]) {
    let answers: unknown[] = [];
    const definition = environment({
      async run({ model }) {
        const more = isSocket === true ? { baseURL: (await model.listen()).baseURL } : {};
        const first = await chat(model, { messages: [system, user("Go")], tools: TOOLS, stream }, more);
        const echoed = {
          role: "assistant",
          content: "I look. ",
          reasoning_content: "Hm.",
          tool_calls: [
            { id: "call_0", type: "function", function: { name: "search", arguments: '{ "b": 2, "q": "a" }' } },
          ],
        };
        const history = [system, user("Go"), echoed, { role: "tool", tool_call_id: "call_0", content: "r" }];
        const second = await chat(model, { messages: history, tools: TOOLS, stream }, more);
        const messages = [...history, { role: "assistant", content: "Second" }, user("And?")];
        const third = await chat(model, { messages, tools: TOOLS, stream }, more);
        answers = [first, second, third].map(({ body }) => body);
        return "done";
      },
    });
    const { observations, last } = await play(
      definition,
      (_, i) =>
        [
          assistant({ type: "thinking", text: "Hm." }, "I look. ", call("q7Xk2PzA1", { q: "a", b: 2 })),
          assistant("Second"),
          assistant("Third"),
        ][i] as never,
    );
    expect(observations.map(({ messages }) => messages)).toEqual([
      [textMessage("system", "Help."), textMessage("user", "Go")],
      [{ role: "tool", parts: [expect.objectContaining({ id: "q7Xk2PzA1", name: "search" })] }],
      [textMessage("user", "And?")],
    ]);
    expect(observations.map(({ tools, isFresh }) => [tools?.length, isFresh])).toEqual([
      [1, undefined],
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(last).toMatchObject({ rewards: { agent: score(1) }, terminated: { agent: true }, truncated: {} });
    expect(infoOf(last.info)).toMatchObject({ calls: 3, segments: 1, rewritten: 0, forked: 0, retried: 0 });
    expect(last.info?.["tools"]).toEqual({ search: { calls: 1 } });
    const toolCall = { id: "q7Xk2PzA1", type: "function", function: { name: "search", arguments: '{"q":"a","b":2}' } };
    if (stream === true)
      expect(answers[0]).toMatchObject([
        {
          object: "chat.completion.chunk",
          choices: [
            {
              delta: {
                role: "assistant",
                content: "I look. ",
                reasoning_content: "Hm.",
                tool_calls: [{ index: 0, ...toolCall }],
              },
            },
          ],
        },
        { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      ]);
    else
      expect(answers[0]).toMatchObject({
        object: "chat.completion",
        choices: [
          {
            finish_reason: "tool_calls",
            message: { content: "I look. ", reasoning_content: "Hm.", tool_calls: [toolCall] },
          },
        ],
      });
  }
});

test("case c: a sub-agent of a role with many is an agent of its own, and all agents have the reward", async () => {
  const definition = environment({
    roles: { main: { many: true } },
    async run({ model }) {
      const main = [system, user("Plan")];
      await chat(model, { messages: main });
      await chat(model, { messages: [user("Search")] });
      await chat(model, { messages: [...main, { role: "assistant", content: "answer 0" }, user("Report")] });
    },
    score: () => score(0.5, { part: 1 }),
  });
  const { observations, last } = await play(definition);
  expect(observations.map(({ agent }) => agent)).toEqual(["main#1", "main#2", "main#1"]);
  expect(last.rewards).toEqual({ "main#1": score(0.5, { part: 1 }), "main#2": score(0.5, { part: 1 }) });
  expect(last.terminated).toEqual({ "main#1": true, "main#2": true });
});

test("case d: parallel calls are answered one after the other, in the order in which they were made", async () => {
  for (const isSocket of [false, true]) {
    let contents: string[] = [];
    const definition = environment({
      roles: { main: { many: true } },
      async run({ model }) {
        const more = isSocket ? { baseURL: (await model.listen()).baseURL } : {};
        const texts = ["x".repeat(100_000), "b", "c", "d"];
        const sent = await Promise.all(texts.map((text) => chat(model, { messages: [user(text)] }, more)));
        contents = sent.map(({ body }) => body.choices[0].message.content);
      },
    });
    const { observations } = await play(definition);
    expect(new Set(observations.map(({ agent }) => agent)).size).toBe(4);
    if (!isSocket) expect(contents).toEqual(["answer 0", "answer 1", "answer 2", "answer 3"]);
    expect(contents.toSorted()).toEqual(["answer 0", "answer 1", "answer 2", "answer 3"]);
  }
});

test("case n: the name of the model, a header or a rule is the role; rewards are by role", async () => {
  const definition = environment({
    roles: { planner: {}, worker: {} },
    calls: [
      { when: { system: /^You act/ }, role: "worker" },
      { when: { tool: "search", schema: "s" }, role: "planner" },
    ],
    async run({ model }) {
      await chat(model, { messages: [user("1")] });
      await chat(model.role("worker"), { messages: [user("2")] });
      await chat(model, { model: "gpt", messages: [user("3")] }, { headers: { "x-mrlm-agent": "worker" } });
      await chat(model, { model: "gpt", messages: [user("4")] });
      await chat(model, { messages: [{ role: "developer", content: "You act." }, user("5")] });
    },
    score: () => ({ planner: 0.25, worker: score(0.75) }),
  });
  const { observations, last } = await play(definition);
  expect(observations.map(({ agent }) => agent)).toEqual(["planner", "worker", "worker", "planner", "worker"]);
  expect(last.rewards).toEqual({ planner: score(0.25), worker: score(0.75) });
});

test("case g: a rule with a fixed answer samples nothing", async () => {
  let title = "";
  const definition = environment({
    calls: [{ when: { system: /title/ }, answer: "A title" }],
    async run({ model }) {
      const made = [{ role: "system", content: "Write a title." }, user("1")];
      title = (await chat(model, { messages: made })).body.choices[0].message.content;
      await chat(model, { messages: [user("2")] });
    },
  });
  const { observations } = await play(definition);
  expect([title, observations.length]).toEqual(["A title", 1]);
});

test("case j: a schema is shown, and its answer checked; the next call continues", async () => {
  const format = {
    type: "json_schema",
    json_schema: { name: "s", schema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] } },
  };
  const definition = environment({
    async run({ model }) {
      const messages: object[] = [user("1")];
      for (let i = 0; i < 3; i++) {
        const { body } = await chat(model, { messages, response_format: format, tool_choice: "required" });
        messages.push({ role: "assistant", content: body.choices[0].message.content }, user("next"));
      }
    },
  });
  const { observations, last } = await play(definition, (_, i) =>
    assistant(["not JSON", '{"b":1}', '{"a":1}'][i] as string),
  );
  const shown = observations.map(({ messages }) =>
    messages.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : ""))).join(),
  );
  expect(shown[1]).toBe(
    'next\n\nCall one of the tools.\nAnswer with one JSON value of this schema: {"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}',
  );
  expect(infoOf(last.info)).toMatchObject({ segments: 1, schema_failed: 2 });
});

test("an answer with a call needs no form, and an object is no other JSON", async () => {
  const definition = environment({
    async run({ model }) {
      const tools = [{ type: "function", function: { name: "search" } }];
      const call = { messages: [user("1")], response_format: { type: "json_object" }, tools };
      await chat(model, call);
      await chat(model, { ...call, messages: [user("2")] });
    },
  });
  const called = { type: "tool-call", id: "A", name: "search", arguments: {} } as const;
  const { last } = await play(definition, (_, i) => (i === 0 ? assistant(called) : assistant("3")));
  expect(infoOf(last.info)).toMatchObject({ calls: 2, schema_failed: 1 });
});

test("case k: parameters without an effect are recorded, others are refused", async () => {
  const sent: unknown[] = [];
  const definition = environment({
    async run({ model }) {
      const messages = [user("1")];
      await chat(model, { messages, temperature: 0, reasoning_effort: "low", n: 1, top_p: null });
      const codes = [
        { n: 2 },
        { messages: [] },
        { guided_json: {} },
        { messages: [...messages, { role: "assistant", content: "Sure" }] },
        { tools: [{ type: "function", function: { name: "a.b" } }] },
        { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      ];
      for (const body of codes) {
        const { status, body: answer } = await chat(model, { messages, ...body });
        sent.push([status, answer.error.code, answer.error.param]);
      }
    },
  });
  const { observations, last } = await play(definition);
  expect(observations[0]?.info?.["call"]).toEqual({
    number: 0,
    wire: "openai-chat",
    match: "first",
    parent: null,
    bodyHash: expect.stringMatching(/^[\da-f]{16}$/),
    parameters: { temperature: 0, reasoning_effort: "low" },
  });
  expect(sent).toEqual([
    [400, "unsupported_parameter", "n"],
    [400, "invalid_value", "messages"],
    [400, "unsupported_parameter", "guided_json"],
    [400, "unsupported_value", "messages.1"],
    [400, "invalid_value", "tools.0.function.name"],
    [400, "unsupported_parameter", "messages.0.content.0"],
  ]);
  expect(infoOf(last.info)).toMatchObject({ refused: 6 });
});

test("case l: the same answers give the same observations, and responses with the same ids", async () => {
  const ids: string[][] = [[], []];
  const plays = ids.map((own) =>
    play(
      environment({
        async run({ model, seed, task }) {
          for (const text of ["a", "b"])
            own.push((await chat(model, { messages: [user(`${text} ${seed} ${task.public["question"]}`)] })).text);
        },
      }),
    ),
  );
  const isTime = (key: string): boolean => key === "at" || key === "seconds";
  const untimed = (played: unknown): string => JSON.stringify(played, (key, value) => (isTime(key) ? 0 : value));
  const [one, other] = await Promise.all(plays);
  expect(untimed(one)).toEqual(untimed(other));
  expect(ids[0]).toEqual(ids[1]);
});

test("case r: fetch answers its own address alone, and private fields reach no program", async () => {
  const definition = environment({
    async run({ model, context, task }) {
      await chat(model, { messages: [user("1")] });
      await expect(model.fetch("http://example.org/v1/models")).rejects.toThrow("http://mrlm.invalid/v1 alone");
      const headers = { authorization: `Bearer ${model.apiKey}` };
      const models = await model.fetch(`${model.baseURL}/models`, { headers });
      expect(await models.json()).toMatchObject({ data: [{ id: "agent" }] });
      const one = await model.fetch(`${model.baseURL}/models/agent`, { headers });
      expect(await one.json()).toMatchObject({ id: "agent", object: "model", type: "model" });
      const other = await model.fetch(`${model.baseURL}/models/other`, {
        headers: { ...headers, "anthropic-version": "2023-06-01" },
      });
      expect([other.status, await other.json()]).toMatchObject([404, { error: { type: "not_found_error" } }]);
      // No number is better than a wrong one: the environment has no tokenizer.
      const count = await model.fetch(`${model.baseURL}/messages/count_tokens`, {
        method: "POST",
        headers,
        body: "{}",
      });
      expect([count.status, await count.json()]).toMatchObject([
        404,
        { type: "error", error: { type: "not_found_error", message: expect.stringContaining("tokens of its policy") } },
      ]);
      expect((await model.fetch(`${model.baseURL}/embeddings`, { headers })).status).toBe(404);
      expect(await context.tasks.get("train", 0)).toEqual({ ...task, private: {} });
      return "ok";
    },
    score: ({ end, task }) =>
      end.kind === "returned" && end.result === "ok" && task.private["answer"] === "A" ? 1 : 0,
  });
  expect((await play(definition)).last.rewards).toEqual({ agent: score(1) });
});

test("a stop string cuts the answer for the program, and the policy reads what the program read", async () => {
  const contents: string[] = [];
  const definition = environment({
    async run({ model }) {
      const messages: object[] = [user("1")];
      for (let i = 0; i < 3; i++) {
        const { body } = await chat(model, { messages, stop: ["\nObservation:", "END"] });
        contents.push(body.choices[0].message.content);
        messages.push({ role: "assistant", content: contents.at(-1) }, user("next"));
      }
    },
  });
  const { observations } = await play(definition, (_, i) =>
    i === 0 ? assistant("Action\nObserv", "ation: mine", call("A")) : assistant("Done"),
  );
  expect(contents).toEqual(["Action", "Done", "Done"]);
  expect(observations.map(({ isFresh, messages }) => [isFresh, messages.length])).toEqual([
    [undefined, 1],
    [true, 3],
    [undefined, 1],
  ]);
});
