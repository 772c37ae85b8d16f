import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { anthropicMessages } from "../../src/gateway/anthropic-messages.ts";
import type { Codec, Delta, ModelCall } from "../../src/gateway/codec.ts";
import { openaiChat } from "../../src/gateway/openai-chat.ts";
import { openaiResponses } from "../../src/gateway/openai-responses.ts";
import { Conversations } from "../../src/gateway/conversations.ts";
import { hasFormat } from "../../src/gateway/instructions.ts";

const text = fc.string({ minLength: 1, maxLength: 4 });
const delta: fc.Arbitrary<Delta> = fc.oneof(
  text.map((value) => ({ type: "content", text: value }) as const),
  text.map((value) => ({ type: "reasoning", text: value }) as const),
  fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<any>, { maxKeys: 2 }).map((given) => {
    return { type: "call", call: { type: "tool-call", id: "A", name: "search", arguments: given } } as const;
  }),
);
/** Parts of an answer, by the times at which they are sampled. */
const sampled = fc.array(fc.array(delta, { maxLength: 3 }), { maxLength: 5 });
const call: ModelCall = { messages: [], tools: [], model: "m", stream: true, stops: [], sampling: {}, parameters: {} };

/** Writes an answer. Returns its events, and the body of a response that is not streamed. */
function written(codec: Codec, parts: readonly (readonly Delta[])[], given = call): { events: any[]; whole: any } {
  const writer = codec.begin(given, { id: "0", created: 1, inputTokens: 5 });
  const events = parts.flatMap((each) => writer.add(each));
  const end = writer.end({ finishReason: "stop", outputTokens: 7 });
  return { events: [...events, ...end.events], whole: end.whole };
}

/** Items of a response by its deltas, as clients join them. */
const joined: Readonly<Record<string, (events: readonly any[]) => unknown[]>> = {
  [anthropicMessages.wire](events) {
    const blocks: any[] = [];
    for (const { type, index, content_block: begin, delta: part } of events) {
      if (type === "content_block_start") blocks[index] = { ...begin, json: "" };
      if (type !== "content_block_delta") continue;
      const block = blocks[index];
      if (part.type === "text_delta") block.text += part.text;
      else if (part.type === "thinking_delta") block.thinking += part.thinking;
      else if (part.type === "signature_delta") block.signature += part.signature;
      else block.json += part.partial_json;
    }
    return blocks.map(({ json, ...block }) => (json === "" ? block : { ...block, input: JSON.parse(json) }));
  },
  [openaiResponses.wire](events) {
    const items: any[] = [];
    for (const { type, output_index: index, item_id, content_index, item, part, delta: more } of events) {
      if (type === "response.output_item.added") items[index] = structuredClone(item);
      if (item_id !== undefined) expect(item_id).toBe(items[index].id);
      if (type === "response.content_part.added") items[index].content[content_index] = structuredClone(part);
      if (type === "response.function_call_arguments.delta") items[index].arguments += more;
      else if (type === "response.output_item.done" && item.type === "reasoning")
        items[index].encrypted_content = item.encrypted_content;
      else if (type.endsWith(".delta")) items[index].content[content_index].text += more;
    }
    return items.map((item) => ("status" in item ? { ...item, status: "completed" } : item));
  },
};

test.each([anthropicMessages, openaiResponses].map((codec) => [codec.wire, codec] as const))(
  "%s: the events of an answer are its items, however it is divided",
  (wire, codec) => {
    fc.assert(
      fc.property(sampled, (parts) => {
        const { events, whole } = written(codec, parts);
        const items = whole.content ?? whole.output;
        expect(joined[wire]?.(events)).toEqual(items);
        // Whole calls, and text that stands together, are one item each.
        expect(written(codec, [parts.flat()]).whole).toEqual(whole);
        const kinds = items.map(({ type }: { type: string }) => type);
        for (const [i, kind] of kinds.entries())
          if (!["tool_use", "function_call"].includes(kind)) expect(kinds[i + 1]).not.toBe(kind);
        const begun = events.filter(({ type }) => /block_start|item\.added/.test(type)).length;
        const ended = events.filter(({ type }) => /block_stop|item\.done/.test(type)).length;
        expect([begun, ended]).toEqual([items.length, items.length]);
      }),
    );
  },
);

test.each([openaiChat, openaiResponses, anthropicMessages].map((codec) => [codec.wire, codec] as const))(
  "%s: a response states its usage, and whether the answer has its form",
  (_, codec) => {
    const format = { schema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] } };
    const of = (content: string, more: Partial<ModelCall>) => {
      const writer = codec.begin({ ...call, ...more }, { id: "0", created: 1, inputTokens: 5 });
      writer.add([{ type: "reasoning", text: "Hm." }]);
      writer.add([{ type: "content", text: content.slice(0, 2) }]);
      writer.add([{ type: "content", text: content.slice(2) }]);
      const { events, whole, hasFormat } = writer.end({ finishReason: "stop", outputTokens: 7 });
      const isMarked = [whole, events].map((each) => JSON.stringify(each).includes('"schema_failed":true'));
      expect(isMarked).toEqual(Array(2).fill(!hasFormat));
      return { hasFormat, usage: (whole as any).usage };
    };
    expect(of('{"a":1}', { format }).hasFormat).toBe(true);
    expect(of('{"a":"1"}', { format }).hasFormat).toBe(false);
    expect(of("[1]", { format: {} }).hasFormat).toBe(false);
    expect(of("one", {}).hasFormat).toBe(true);
    // Chat completions leave the counts out in an episode; a server adds its own.
    if (codec !== openaiChat) expect(of("one", {}).usage).toMatchObject({ input_tokens: 5, output_tokens: 7 });
  },
);

test("a regular expression of a schema is not run on an answer", () => {
  const schema = {
    type: "object",
    properties: { pattern: { type: "string", pattern: "^(a+)+$" }, n: { type: "integer" } },
    required: ["n"],
  };
  const answer = (value: object): string => JSON.stringify({ pattern: `${"a".repeat(60)}!`, ...value });
  expect(hasFormat(answer({ n: 1 }), { format: { schema } })).toBe(true);
  expect(hasFormat(answer({ n: "1" }), { format: { schema } })).toBe(false);
});

test("a schema whose check would take years accepts any JSON after a tenth of a second", () => {
  for (const combination of ["anyOf", "allOf", "oneOf"]) {
    const each = (at: number) => ({ [combination]: Array(3).fill({ $ref: `#/$defs/d${at}` }) });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, each(at + 1)]));
    const schema = { $defs: { ...$defs, d40: { type: "number" } }, $ref: "#/$defs/d0" };
    const began = performance.now();
    expect(hasFormat('"a"', { format: { schema } })).toBe(true);
    expect(performance.now() - began).toBeLessThan(2_000);
  }
  expect(hasFormat("1", { format: { schema: { type: "string" } } })).toBe(false);
});

const user = { role: "user", content: "q" };
test.each<[string, (count: number) => [codec: { read(body: unknown): ModelCall }, body: object]]>([
  ["answers", (n) => [openaiChat, { messages: [user, ...Array(n).fill({ role: "assistant", content: "a" }), user] }]],
  ["reasonings", (n) => [openaiResponses, { input: [user, ...Array(n).fill({ type: "reasoning" }), user] }]],
  ["messages", (n) => [openaiResponses, { input: [user, ...Array(n).fill({ ...user, role: "assistant" }), user] }]],
  ["turns", (n) => [anthropicMessages, { max_tokens: 9, messages: Array(n).fill(user) }]],
])("a history of 19,000 %s takes time by its length, and a longer one is refused", (_, bodyOf) => {
  const [codec, body] = bodyOf(19_000);
  const began = performance.now();
  const { messages, tools } = codec.read({ model: "a", ...body });
  new Conversations().match({ messages, tools }, "agent", true);
  // The square of the length would be minutes.
  expect(performance.now() - began).toBeLessThan(3_000);
  const [, longer] = bodyOf(21_000);
  expect(() => codec.read({ model: "a", ...longer })).toThrow(/more than 20000 lists and objects/);
});
