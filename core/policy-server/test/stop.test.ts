import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { findStop, partialStop } from "@mrlm/kit/gateway";
import { Choice } from "../src/text/choice.ts";
import { PlainText } from "../src/text/text-sink.ts";
import { events, served, type Served, testRenderer, writing } from "./support/served.ts";

const CHAT = "/v1/chat/completions";
const messages = [{ role: "user", content: "Hello" }];
const renderer = testRenderer();

describe("a stop string", () => {
  test("ends the answer where it ends first, of equal ends the longest", () => {
    expect(findStop("xabcab", ["cab", "b"])).toEqual({ start: 2, end: 3 });
    expect(findStop("xabc", ["c", "bc", "d"])).toEqual({ start: 2, end: 4 });
    expect(findStop("xabc", ["d"])).toBeUndefined();
    expect([partialStop("xab", ["abc", "b?"]), partialStop("xab", ["abd"]), partialStop("x", ["abc"])]).toEqual([
      2, 2, 0,
    ]);
  });

  test("cuts text, ids and log-probabilities at the same place, however tokens arrive and divide characters", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "ab", "é", "日", "😀", " ", "<answer>"), { maxLength: 12 });
    const stops = fc.uniqueArray(fc.constantFrom("ab", "b ", "aa", "日", "éb", "é", "😀a", "r>a", "<answer>"), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(texts, stops, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), (parts, given, sizes) => {
        const text = parts.join("");
        const tokens = renderer.tokenizer.encode(text);
        const match = findStop(text, given);
        const expected = match === undefined ? text : text.slice(0, match.start);
        const choice = new Choice({
          sink: new PlainText(renderer),
          tokenizer: renderer.tokenizer,
          stops: given,
          stopTokens: new Set(),
        });
        const updates = [];
        let at = 0;
        for (let i = 0; at < tokens.length && choice.stop === undefined; i++) {
          const size = sizes[i % sizes.length] as number;
          const chunk = tokens.slice(at, at + size);
          const update = choice.push({ tokens: chunk, logprobs: Float32Array.from(chunk, (_, j) => at + j) });
          at += size;
          // No later part may take back what was sent.
          const sent = [...updates, update].flatMap(({ deltas }) =>
            deltas.map((delta) => (delta.type === "content" ? delta.text : "")),
          );
          expect(expected.startsWith(sent.join(""))).toBe(true);
          updates.push(update);
        }
        updates.push(choice.end());
        const content = updates
          .flatMap(({ deltas }) => deltas.map((delta) => (delta.type === "content" ? delta.text : "")))
          .join("");
        const ids = updates.flatMap((update) => [...update.tokens]);
        expect(content).toBe(expected);
        expect(choice.stop !== undefined).toBe(match !== undefined);
        expect(ids).toEqual([...tokens.slice(0, ids.length)]);
        expect(updates.flatMap((update) => [...update.logprobs])).toEqual(ids.map((_, i) => i));
        // The ids are those of the text, and the last one has a part of it.
        const decoded = renderer.tokenizer.decode(Int32Array.from(ids));
        expect(decoded.startsWith(expected)).toBe(true);
        if (ids.length > 0)
          expect(
            renderer.tokenizer.decode(Int32Array.from(ids.slice(0, -1))).replace(/\uFFFD+$/, "").length,
          ).toBeLessThan(Math.max(1, expected.length));
        if (match === undefined) expect(ids).toHaveLength(tokens.length);
      }),
    );
  });
});

describe("an answer over HTTP", () => {
  let server: Served;
  afterEach(() => server.close());

  test.each([
    ["in one token", "Hello <answer> there", ["<answer>"], "Hello "],
    ["across tokens", "one two three", ["o th"], "one tw"],
    ["that never comes", "one two", ["zzz", "two!"], "one two"],
    ["at the start", "one two", ["o"], ""],
    ["of another character", "naïve 日本 text", ["本"], "naïve 日"],
  ])("ends before a stop string %s, streamed and not", async (_name, text, stop, expected) => {
    server = await served({ policies: [writing("writer", text, { size: 3 })] });
    const request = { model: "writer", messages, stop, logprobs: true, return_token_ids: true };
    const { body } = await server.post(CHAT, request);
    const [choice] = body.choices;
    expect([choice.message.content, choice.finish_reason]).toEqual([expected, "stop"]);
    expect(choice.token_ids).toHaveLength(choice.logprobs.content.length);
    expect(body.usage.completion_tokens).toBe(choice.token_ids.length);
    const streamed = (await events(server.url, CHAT, request)).map(({ choices: [each] }) => each);
    expect(streamed.map(({ delta }) => delta.content ?? "").join("")).toBe(expected);
    expect(streamed.flatMap(({ token_ids: ids = [] }) => ids)).toEqual(choice.token_ids);
    expect(streamed.at(-1).finish_reason).toBe("stop");
    const plain = await server.post("/v1/completions", { model: "writer", prompt: "Hi", stop, max_tokens: 99 });
    expect(plain.body.choices[0].text).toBe(expected);
  });

  test("has whole characters alone, also in the events of a stream and at a limit of tokens", async () => {
    const text = "é日😀".repeat(12);
    server = await served({ policies: [writing("writer", text)] });
    const all = renderer.tokenizer.encode(text).length;
    for (let maxTokens = 1; maxTokens <= all; maxTokens++) {
      const request = { model: "writer", messages, max_tokens: maxTokens };
      const { body } = await server.post(CHAT, request);
      const { content } = body.choices[0].message;
      expect(content).not.toContain("\uFFFD");
      expect(text.startsWith(content)).toBe(true);
      if (maxTokens % 7 > 0) continue;
      const streamed = await events(server.url, CHAT, request);
      const parts = streamed.map(({ choices: [{ delta }] }) => delta.content ?? "");
      expect(parts.join("")).toBe(content);
      expect(parts.every((part) => part.isWellFormed())).toBe(true);
    }
    expect((await server.post(CHAT, { model: "writer", messages })).body.choices[0].message.content).toBe(text);
  });
});
