import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { ApiError } from "../../src/gateway/api-error.ts";
import { openaiChat } from "../../src/gateway/openai-chat.ts";
import { openaiResponses } from "../../src/gateway/openai-responses.ts";
import { writeAnswer } from "../../src/gateway/write-answer.ts";

const text = fc.constantFrom("", "a", "call_0", "search", "{}", '{"a":1}', "[", "__proto__");
const json = fc.jsonValue({ maxDepth: 3 });
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: usual, weight: 20 }, { arbitrary: json, weight: 1 });
const plain = fc.record({ role: fc.constantFrom("system", "user", "assistant"), content: text });
const item = fc.record(
  {
    type: mostly(fc.constantFrom("message", "reasoning", "function_call", "function_call_output", "item_reference")),
    role: mostly(fc.constantFrom("developer", "user", "assistant")),
    content: mostly(fc.oneof(text, fc.array(fc.record({ type: fc.constant("input_text"), text: mostly(text) })))),
    summary: mostly(fc.constant([])),
    call_id: mostly(text),
    name: mostly(text),
    arguments: mostly(text),
    output: mostly(text),
  },
  { requiredKeys: ["type"] },
);
const body = fc.record(
  {
    model: mostly(text),
    input: mostly(
      fc.oneof(
        text,
        fc.array(fc.oneof({ arbitrary: plain, weight: 4 }, { arbitrary: item, weight: 1 }), { maxLength: 4 }),
      ),
    ),
    instructions: mostly(text),
    tools: mostly(fc.array(fc.record({ type: fc.constant("function"), name: mostly(text), parameters: json }))),
    tool_choice: mostly(fc.constantFrom("none", "auto", "required")),
    text: fc.record({ format: fc.record({ type: fc.constantFrom("text", "json_object", "json_schema"), name: text }) }),
    reasoning: json,
  },
  { requiredKeys: ["model", "input"] },
);

test("a body is read, or refused by an error of the API: no body is a fault of the gateway", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.oneof({ arbitrary: body, weight: 9 }, { arbitrary: json, weight: 1 }), (given) => {
      try {
        openaiResponses.read(given);
        read++;
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
        expect((error as ApiError).status).toBe(400);
      }
    }),
    { numRuns: 1_000 },
  );
  expect(read).toBeGreaterThan(20);
});

const parameters = { type: "object", properties: { q: { type: "string" } } };
const calls = ["a", "b"].map((q) => ({ id: q, given: JSON.stringify({ q }) }));
const request = {
  model: "m",
  instructions: "Help.",
  max_output_tokens: 20,
  input: [
    { role: "user", content: [{ type: "input_text", text: "Go" }] },
    { type: "reasoning", id: "rs_0", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
    {
      type: "message",
      role: "assistant",
      id: "msg_0",
      content: [{ type: "output_text", text: "I look.", annotations: [] }],
    },
    ...calls.map(({ id, given }) => ({ type: "function_call", call_id: id, name: "search", arguments: given })),
    { type: "function_call_output", call_id: "b", output: [{ type: "input_text", text: "found b" }] },
    { type: "function_call_output", call_id: "a", output: "found a" },
  ],
  tools: [{ type: "function", name: "search", description: "Search.", parameters, strict: true }],
};

test("the same conversation is read as that of chat completions", () => {
  const chat = openaiChat.read({
    model: "m",
    max_tokens: 20,
    messages: [
      { role: "system", content: "Help." },
      { role: "user", content: "Go" },
      {
        ...{ role: "assistant", reasoning_content: "Hm.", content: "I look." },
        tool_calls: calls.map(({ id, given }) => ({ id, function: { name: "search", arguments: given } })),
      },
      { role: "tool", tool_call_id: "b", content: "found b" },
      { role: "tool", tool_call_id: "a", content: "found a" },
    ],
    tools: [{ type: "function", function: { name: "search", description: "Search.", parameters } }],
  });
  const { messages, ...rest } = openaiResponses.read(request);
  const flat = messages.flatMap(({ role, parts }): unknown[] =>
    role === "tool" ? parts.map((part) => ({ role, parts: [part] })) : [{ role, parts }],
  );
  expect({ messages: flat, ...rest }).toEqual(chat);
});

test.each([
  [{ input: request.input.slice(0, 5) }, /calls without a result/],
  [{ input: [{ type: "function_call_output", call_id: "a", output: "" }] }, /is no call of/],
  [{ tools: [{ type: "web_search" }] }, /tools\.0/],
  [{ input: [{ role: "user", content: [{ type: "input_image", image_url: "" }] }] }, /input\.0\.content\.0/],
  [
    {
      input: [
        { role: "user", content: "a" },
        { role: "assistant", content: "{" },
      ],
    },
    /not continued/,
  ],
  [{ previous_response_id: "resp_0" }, /previous_response_id/],
  [{ background: true }, /background/],
  [{ tools: [{ type: "function", name: "a", input_examples: [{}] }] }, /tools\.0\.input_examples/],
  [{ tools: [{ type: "function", name: "a", format: { type: "text" } }] }, /tools\.0\.format/],
  [{ tools: [{ type: "custom", name: "a", format: { type: "xml" } }] }, /tools\.0\.format/],
  [{ text: { x: 1 } }, /text\.x/],
])("a request that cannot be answered is refused with its place: %j", (changed, reason) => {
  expect(() => openaiResponses.read({ ...request, ...changed })).toThrow(reason);
});

test("a client that returns the encrypted content alone returns the reasoning", () => {
  const message = { role: "assistant" as const, parts: [{ type: "thinking" as const, text: "Häm." }] };
  const call = openaiResponses.read(request);
  const whole = JSON.parse(writeAnswer(openaiResponses, call, { message, finishReason: "stop" }, "0")[0] ?? "");
  const { encrypted_content } = whole.output[0];
  const returned = (encrypted: string): unknown => {
    const reasoning = { type: "reasoning", summary: [], encrypted_content: encrypted };
    const input = [{ role: "user", content: "Go" }, reasoning, { role: "user", content: "More" }];
    return openaiResponses.read({ model: "m", input }).messages[1]?.parts;
  };
  expect([returned(encrypted_content), returned("of another server")]).toEqual([message.parts, []]);
});

test("functions of a namespace are tools NAMESPACE__NAME, and a call of one has the names of the program", () => {
  const space = { type: "namespace", name: "agents", description: "", tools: request.tools };
  const made = { type: "function_call", call_id: "c", namespace: "agents", name: "search", arguments: "{}" };
  const given = {
    ...{ model: "m", client_metadata: { session: "s" }, tools: [...request.tools, space] },
    input: [{ role: "user", content: "Go" }, made, { type: "function_call_output", call_id: "c", output: "" }],
  };
  const read = openaiResponses.read(given);
  expect(read.tools.map(({ name }) => name)).toEqual(["search", "agents__search"]);
  expect(read.parameters).toEqual({ client_metadata: { session: "s" } });
  const [call] = read.messages.flatMap(({ role, parts }) => (role === "assistant" ? parts : []));
  expect(call).toMatchObject({ name: "agents__search" });
  for (const stream of [false, true]) {
    const message = { role: "assistant" as const, parts: call === undefined ? [] : [call] };
    const written = writeAnswer(openaiResponses, { ...read, stream }, { message, finishReason: "stop" }, "0").join("");
    expect(written).toContain('"namespace":"agents","name":"search"');
    expect(written).not.toContain("agents__search");
  }
  const hosted = { ...space, tools: [{ type: "web_search" }] };
  expect(() => openaiResponses.read({ ...given, tools: [hosted] })).toThrow(/tools\.0\.tools\.0.*Turn it off/);
});

test("parameters inside of others are recorded", () => {
  const { parameters } = openaiResponses.read({ ...request, text: { verbosity: "low" }, reasoning: { effort: "low" } });
  expect(parameters).toEqual({ verbosity: "low", reasoning: { effort: "low" } });
});

test("an answer is written whole and as events with the same items", () => {
  const message = {
    role: "assistant" as const,
    parts: [
      { type: "thinking" as const, text: "Hm." },
      { type: "text" as const, text: "I " },
      { type: "text" as const, text: "look." },
      { type: "tool-call" as const, id: "A", name: "search", arguments: { q: "ä" } },
    ],
  };
  const write = (stream: boolean): string[] =>
    writeAnswer(
      openaiResponses,
      openaiResponses.read({ ...request, stream }),
      { message, finishReason: "length" },
      "id",
    );
  const whole = JSON.parse(write(false)[0] ?? "");
  expect(whole).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  const events = write(true).map((event) => JSON.parse(/^event: [\w.]+\ndata: (.*)\n\n$/s.exec(event)?.[1] ?? ""));
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
  expect(events.at(-1)).toMatchObject({ type: "response.incomplete", response: whole });
  const done = events.filter(({ type }) => type === "response.output_item.done");
  expect(done.map(({ item: each }) => each)).toEqual(whole.output);
  const deltas = events.filter(({ type }) => type.endsWith(".delta")).map(({ delta }) => delta);
  expect(deltas).toEqual(["Hm.", "I look.", '{"q":"ä"}']);
});

test("a required function of a namespace has the name that the policy has", () => {
  const space = { type: "namespace", name: "files", description: "", tools: request.tools };
  const choose = (name: string) =>
    openaiResponses.read({ ...request, tools: [space], tool_choice: { type: "function", name } }).requiredTool;
  expect(choose("search")).toBe("files__search");
  expect(choose("files__search")).toBe("files__search");
});

test("a custom tool takes its text by the argument `input`, and the call comes back as it was", () => {
  const format = { type: "grammar", syntax: "lark", definition: "start: /.+/" };
  const tools = [{ type: "custom", name: "apply", description: "Patches.", format }, request.tools[0]];
  const asked = { model: "m", tools, tool_choice: { type: "custom", name: "apply" } };
  const call = openaiResponses.read({ ...asked, input: "Go", stream: true });
  expect(call.tools.map(({ name }) => name)).toEqual(["apply", "search"]);
  expect(call.tools[0]?.description).toBe("Patches.\n\nForm of `input` (lark):\nstart: /.+/");
  expect([call.tools[0]?.parameters["required"], call.requiredTool]).toEqual([["input"], "apply"]);
  const input = '*** "Begin"\n+ä';
  const made = { type: "tool-call", id: "c1", name: "apply", arguments: { input } } as const;
  const message = { role: "assistant" as const, parts: [made] };
  const events = writeAnswer(openaiResponses, call, { message, finishReason: "stop" }, "0").map((each) =>
    JSON.parse(each.slice(each.indexOf("data: ") + 6)),
  );
  expect(events.find(({ type }) => type === "response.custom_tool_call_input.delta")).toMatchObject({ delta: input });
  expect(events.find(({ type }) => type === "response.custom_tool_call_input.done")).toMatchObject({ input });
  const [item] = events.at(-1).response.output;
  expect(item).toMatchObject({ type: "custom_tool_call", call_id: "c1", name: "apply", input });
  const output = { type: "custom_tool_call_output", call_id: "c1", output: "Done." };
  const returned = openaiResponses.read({ ...asked, input: [{ role: "user", content: "Go" }, item, output] });
  expect(returned.messages.slice(1)).toEqual([
    message,
    {
      role: "tool",
      parts: [
        { type: "tool-result", id: "c1", name: "apply", content: [{ type: "text", text: "Done." }], isError: false },
      ],
    },
  ]);
});

test("arguments of a custom tool that are no `input` alone are sent as their JSON", () => {
  const call = openaiResponses.read({ model: "m", input: "Go", tools: [{ type: "custom", name: "apply" }] });
  const part = { type: "tool-call", id: "c1", name: "apply", arguments: { input: "a", more: 1 } } as const;
  const answer = { message: { role: "assistant" as const, parts: [part] }, finishReason: "stop" as const };
  const { output } = JSON.parse(writeAnswer(openaiResponses, call, answer, "0")[0] ?? "");
  expect(output[0].input).toBe('{"input":"a","more":1}');
});
