import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { ApiError } from "../../src/gateway/api-error.ts";
import { parseChatRequest } from "../../src/gateway/chat-request.ts";
import { CODECS } from "../../src/gateway/codecs.ts";
import { openaiChat } from "../../src/gateway/openai-chat.ts";
import { writeAnswer } from "../../src/gateway/write-answer.ts";

const text = fc.constantFrom("", "a", "call_0", "search", "{}", '{"a":1}', "[", "user", "__proto__");
const json = fc.jsonValue({ maxDepth: 3 });
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: usual, weight: 20 }, { arbitrary: json, weight: 1 });
const member = (members: Record<string, fc.Arbitrary<unknown>>) => mostly(fc.record(members, { requiredKeys: [] }));
const call = member({
  id: mostly(text),
  type: mostly(fc.constant("function")),
  function: member({ name: mostly(text), arguments: mostly(text) }),
});
const plain = fc.record({ role: fc.constantFrom("system", "user", "assistant"), content: text });
const any = fc.record(
  {
    role: mostly(fc.constantFrom("system", "developer", "user", "assistant", "tool")),
    content: mostly(fc.oneof(text, fc.constant(null), fc.array(member({ type: text, text: mostly(text) })))),
    tool_calls: mostly(fc.array(call, { maxLength: 2 })),
    tool_call_id: mostly(text),
    reasoning_content: mostly(text),
  },
  { requiredKeys: ["role"] },
);
const message = fc.oneof({ arbitrary: plain, weight: 4 }, { arbitrary: any, weight: 1 });
const body = fc.record(
  {
    model: mostly(text),
    messages: mostly(fc.array(message, { maxLength: 4 })),
    tools: mostly(
      fc.array(member({ type: fc.constant("function"), function: member({ name: text, parameters: json }) })),
    ),
    tool_choice: mostly(fc.constantFrom("none", "auto", "required")),
    response_format: member({ type: fc.constantFrom("text", "json_object", "json_schema"), json_schema: json }),
    stop: mostly(fc.constant("a")),
    n: mostly(fc.constant(1)),
    max_tokens: mostly(fc.constant(5)),
    stream: mostly(fc.boolean()),
    temperature: mostly(fc.constantFrom(0, 1)),
    frequency_penalty: mostly(fc.constant(0)),
    logit_bias: mostly(fc.constant({})),
    metadata: fc.constantFrom({}, { a: "1" }, 1),
    reasoning_effort: text,
  },
  { requiredKeys: ["model", "messages"] },
);

test("a body is read, or refused by an error of the API: no body is a fault of the gateway", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.oneof({ arbitrary: body, weight: 9 }, { arbitrary: json, weight: 1 }), (given) => {
      try {
        const { messages, tools } = openaiChat.read(given);
        read++;
        // A policy server accepts what an episode accepts, and reads the same.
        expect(parseChatRequest(given)).toMatchObject({ messages, tools });
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
        expect((error as ApiError).status).toBe(400);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(read).toBeGreaterThan(20);
});

test("an answer is written whole and as events with the same parts", () => {
  const message = {
    role: "assistant" as const,
    parts: [
      { type: "thinking" as const, text: "Hm." },
      { type: "text" as const, text: "I look." },
      { type: "tool-call" as const, id: "A", name: "search", arguments: { q: "ä" } },
    ],
  };
  const request = { model: "m", messages: [{ role: "user", content: "a" }], logprobs: true };
  const write = (stream: boolean): string[] =>
    writeAnswer(openaiChat, openaiChat.read({ ...request, stream }), { message, finishReason: "stop" }, "id-0");
  const [whole = ""] = write(false);
  expect(JSON.parse(whole)).toMatchObject({
    id: "id-0",
    created: 0,
    choices: [{ finish_reason: "tool_calls", logprobs: null }],
  });
  const events = write(true);
  expect(events.at(-1)).toBe("data: [DONE]\n\n");
  const [first, last] = events.map((event) => (event.includes("[DONE]") ? {} : JSON.parse(event.slice(6)).choices[0]));
  const { tool_calls, ...rest } = first.delta;
  const { message: sent } = JSON.parse(whole).choices[0];
  expect({ ...rest, refusal: null, tool_calls: tool_calls.map(({ index: _, ...each }: any) => each) }).toEqual(sent);
  expect(last).toMatchObject({ delta: {}, finish_reason: "tool_calls" });
});

test("an answer has its usage of tokens, a stream where the request asks for it", () => {
  const request = { model: "m", messages: [{ role: "user", content: "a" }] };
  const write = (more: object): any[] => {
    const call = openaiChat.read({ ...request, ...more });
    const writer = openaiChat.begin(call, { id: "0", created: 0, inputTokens: 5 });
    const { events, whole } = writer.end({ finishReason: "stop", outputTokens: 7 });
    return call.stream ? events : [whole];
  };
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
  expect(write({})).toMatchObject([{ usage }]);
  expect(write({ stream: true })).toHaveLength(1);
  expect(write({ stream: true, stream_options: { include_usage: true } })).toMatchObject([{}, { choices: [], usage }]);
});

test.each(CODECS.map((codec) => [codec.wire, codec] as const))(
  "%s: a server takes names of tools that an environment does not have, and parameters of the sampler",
  (_, codec) => {
    const body = (name: string, more: object = {}): object => ({
      ...{ model: "m", [codec.list]: [{ role: "user", content: "Go" }], ...more },
      tools: [
        codec.list === "input"
          ? { type: "function", name }
          : codec.wire === "openai-chat"
            ? { type: "function", function: { name } }
            : { name, input_schema: {} },
      ],
      ...(codec.wire === "anthropic-messages" && { max_tokens: 5 }),
    });
    for (const name of ["files.read", "a".repeat(128)]) {
      expect(codec.read(body(name), "server").tools).toMatchObject([{ name }]);
      expect(() => codec.read(body(name))).toThrow(/\[A-Za-z0-9_-\]\{1,64\}/);
    }
    const sampling = { temperature: 0.5, top_k: 3, seed: 1 };
    expect(codec.read(body("a", sampling), "server").sampling).toEqual(sampling);
    expect(codec.read(body("a", sampling)).parameters).toEqual(sampling);
    expect(() => codec.read(body("a", { temperature: "hot" }))).toThrow(/temperature/);
    expect(codec.read(body("a", { stop_token_ids: [1] }), "server").sampling).toEqual({ stop_token_ids: [1] });
    expect(() => codec.read(body("a", { stop_token_ids: [1] }))).toThrow(/stop_token_ids/);
  },
);
