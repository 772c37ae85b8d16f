import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { anthropicMessages } from "../../src/gateway/anthropic-messages.ts";
import { ApiError } from "../../src/gateway/api-error.ts";
import { openaiChat } from "../../src/gateway/openai-chat.ts";
import { writeAnswer } from "../../src/gateway/write-answer.ts";

const text = fc.constantFrom("", "a", "toolu_0", "search", "user", "__proto__");
const json = fc.jsonValue({ maxDepth: 3 });
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: usual, weight: 20 }, { arbitrary: json, weight: 1 });
const block = fc.record(
  {
    type: mostly(fc.constantFrom("text", "thinking", "tool_use", "tool_result", "image")),
    text: mostly(text),
    thinking: mostly(text),
    id: mostly(text),
    name: mostly(text),
    input: mostly(fc.dictionary(text, json)),
    tool_use_id: mostly(text),
    content: mostly(text),
  },
  { requiredKeys: ["type"] },
);
const message = fc.record({
  role: mostly(fc.constantFrom("user", "assistant", "system")),
  content: mostly(
    fc.oneof({ arbitrary: text, weight: 4 }, { arbitrary: fc.array(block, { maxLength: 3 }), weight: 1 }),
  ),
});
const body = fc.record(
  {
    model: mostly(text),
    max_tokens: mostly(fc.constant(5)),
    messages: mostly(fc.array(message, { maxLength: 4 })),
    system: mostly(text),
    tools: mostly(fc.array(fc.record({ name: mostly(text), input_schema: mostly(fc.dictionary(text, json)) }))),
    tool_choice: mostly(fc.record({ type: fc.constantFrom("auto", "any", "tool", "none"), name: text })),
    stop_sequences: mostly(fc.constant(["a"])),
    thinking: json,
    temperature: mostly(fc.constantFrom(0, 1)),
  },
  { requiredKeys: ["model", "messages", "max_tokens"] },
);

test("a body is read, or refused by an error of the API: no body is a fault of the gateway", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.oneof({ arbitrary: body, weight: 9 }, { arbitrary: json, weight: 1 }), (given) => {
      try {
        anthropicMessages.read(given);
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

const schema = { type: "object", properties: { q: { type: "string" } } };
const request = {
  model: "m",
  max_tokens: 20,
  system: [{ type: "text", text: "Help.", cache_control: { type: "ephemeral" } }],
  messages: [
    { role: "user", content: "Go" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "" },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "A", name: "search", input: { q: "a" } },
        { type: "tool_use", id: "B", name: "search", input: { q: "b" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "B", content: [{ type: "text", text: "b" }], is_error: true },
        { type: "tool_result", tool_use_id: "A", content: "a" },
        { type: "text", text: "Hurry." },
      ],
    },
  ],
  tools: [{ name: "search", description: "Search.", input_schema: schema }],
};

test("the same conversation is read as that of chat completions", () => {
  const tool_calls = ["a", "b"].map((q) => ({
    id: q.toUpperCase(),
    type: "function",
    function: { name: "search", arguments: JSON.stringify({ q }) },
  }));
  const chat = openaiChat.read({
    model: "m",
    max_tokens: 20,
    messages: [
      { role: "system", content: "Help." },
      { role: "user", content: "Go" },
      { role: "assistant", reasoning_content: "Hm.", content: "I look.", tool_calls },
      { role: "tool", tool_call_id: "B", content: "b" },
      { role: "tool", tool_call_id: "A", content: "a" },
      { role: "user", content: "Hurry." },
    ],
    tools: [{ type: "function", function: { name: "search", description: "Search.", parameters: schema } }],
  });
  const { messages, ...rest } = anthropicMessages.read(request);
  // Results of one message are two messages of the chat API, which have no errors; the normal form joins them.
  const flat = messages.flatMap(({ role, parts }): unknown[] =>
    role === "tool" ? parts.map((part) => ({ role, parts: [{ ...part, isError: false }] })) : [{ role, parts }],
  );
  expect({ messages: flat, ...rest }).toEqual(chat);
});

test.each([
  [{ messages: [...request.messages.slice(0, 2), { role: "user", content: "no result" }] }, /calls without a result/],
  [{ messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "A" }] }] }, /is no call of/],
  [{ messages: request.messages.slice(0, 1), tools: [{ type: "bash_20250124", name: "bash" }] }, /tools\.0/],
  [{ messages: [{ role: "user", content: [{ type: "image", source: {} }] }] }, /messages\.0\.content\.0/],
  [
    {
      messages: [
        { role: "user", content: "a" },
        { role: "assistant", content: "{" },
      ],
    },
    /not continued/,
  ],
  [{ container: "c" }, /container/],
  [{ tools: [{ name: "a", input_schema: {}, input_examples: [{}] }] }, /tools\.0\.input_examples/],
  [{ tool_choice: { type: "auto", x: 1 } }, /tool_choice/],
  [{ max_tokens: null }, /max_tokens/],
])("a request that cannot be answered is refused with its place: %j", (changed, reason) => {
  expect(() => anthropicMessages.read({ ...request, ...changed })).toThrow(reason);
});

test("a message of the system stands where the program sent it", () => {
  const messages = [request.messages[0], { role: "system", content: [{ type: "text", text: "Be short." }] }];
  expect(anthropicMessages.read({ ...request, messages }).messages.map(({ role }) => role)).toEqual([
    ...["system", "user", "system"],
  ]);
});

test("a deferred tool is offered when a result in the history has a reference to it", () => {
  const tools = [
    { ...request.tools[0], eager_input_streaming: true },
    { name: "later", input_schema: schema, defer_loading: true },
  ];
  const loaded = [
    { role: "user", content: "Go" },
    { role: "assistant", content: [{ type: "tool_use", id: "A", name: "search", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "A", content: [{ type: "tool_reference", tool_name: "later" }] }],
    },
  ];
  const namesOf = (messages: readonly object[]): string[] =>
    anthropicMessages.read({ ...request, tools, messages }).tools.map(({ name }) => name);
  expect([namesOf(loaded.slice(0, 1)), namesOf(loaded)]).toEqual([["search"], ["search", "later"]]);
  expect(anthropicMessages.read({ ...request, tools, messages: loaded }).messages.at(-1)).toMatchObject({
    parts: [{ content: [{ text: "later\n" }] }],
  });
});

test("parameters inside of others are recorded", () => {
  const more = { output_config: { effort: "low" }, tool_choice: { type: "auto", disable_parallel_tool_use: true } };
  const { parameters } = anthropicMessages.read({ ...request, ...more, temperature: 0 });
  expect(parameters).toEqual({ effort: "low", disable_parallel_tool_use: true, temperature: 0 });
});

test("an answer is written whole and as events with the same blocks", () => {
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
      anthropicMessages,
      anthropicMessages.read({ ...request, stream }),
      { message, finishReason: "stop" },
      "id-0",
    );
  const whole = JSON.parse(write(false)[0] ?? "");
  expect(whole).toMatchObject({ id: "msg_id-0", role: "assistant", stop_reason: "tool_use", stop_sequence: null });
  const events = write(true).map((event) => {
    const [, name, data] = /^event: (\w+)\ndata: (.*)\n\n$/s.exec(event) ?? [];
    const parsed = JSON.parse(data ?? "");
    expect(parsed.type).toBe(name);
    return parsed;
  });
  const content = events
    .filter(({ type }) => type === "content_block_start")
    .map(({ index, content_block: begin }) => {
      const { delta } = events.find((each) => each.type === "content_block_delta" && each.index === index);
      if (delta.type === "text_delta") return { ...begin, text: delta.text };
      const signed = events.find((each) => each.delta?.type === "signature_delta");
      if (delta.type === "thinking_delta")
        return { ...begin, thinking: delta.thinking, signature: signed.delta.signature };
      return { ...begin, input: JSON.parse(delta.partial_json) };
    });
  expect(content).toEqual(whole.content);
  expect(whole.content[0].signature).not.toBe("");
  expect(events.at(-2).delta).toEqual({ stop_reason: "tool_use", stop_sequence: null });
  expect([events[0].type, events.at(-1).type]).toEqual(["message_start", "message_stop"]);
});

test.each([
  [{ finishReason: "stop", stop: "END" }, "stop_sequence", "END"],
  [{ finishReason: "length" }, "max_tokens", null],
  [{ finishReason: "stop" }, "end_turn", null],
] as const)("the end of an answer %j is %s", (end, reason, sequence) => {
  const message = { role: "assistant" as const, parts: [] };
  const [whole = ""] = writeAnswer(anthropicMessages, anthropicMessages.read(request), { message, ...end }, "id");
  expect(JSON.parse(whole)).toMatchObject({ stop_reason: reason, stop_sequence: sequence, content: [] });
});
