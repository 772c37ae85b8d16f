import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { characterTokenizerFiles, loadTokenizer } from "../../src/renderer.ts";
import { TokenText } from "../../src/renderer/token-text.ts";

type Pieces = ReturnType<TokenText["push"]>;

const bytes = loadTokenizer(characterTokenizerFiles({ alphabet: "ab \n字😀é" }));

/** SentencePiece form: a word begins with "▁", unknown characters are bytes, and the first space of a text is removed. */
const pieces = loadTokenizer({
  "tokenizer.json": new TextEncoder().encode(
    JSON.stringify({
      version: "1.0",
      added_tokens: [{ id: 0, content: "<s>", special: true }],
      normalizer: { type: "Prepend", prepend: "▁" },
      pre_tokenizer: null,
      post_processor: null,
      decoder: {
        type: "Sequence",
        decoders: [
          { type: "Replace", pattern: { String: "▁" }, content: " " },
          { type: "ByteFallback" },
          { type: "Fuse" },
          { type: "Strip", content: " ", start: 1, stop: 0 },
        ],
      },
      model: {
        type: "BPE",
        unk_token: null,
        byte_fallback: true,
        vocab: Object.fromEntries(
          [
            "<s>",
            "▁",
            "▁a",
            "b",
            "字",
            ...Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`),
          ].map((token, id) => [token, id]),
        ),
        merges: [],
      },
    }),
  ),
});

describe.each([
  ["bytes", bytes],
  ["SentencePiece", pieces],
])("tokens of %s", (name, tokenizer) => {
  const joined = (parts: Pieces): string => parts.map((part) => ("text" in part ? part.text : part.special)).join("");
  const read = (tokens: Int32Array, size: number): string => {
    const decoder = new TokenText(tokenizer, new Map());
    const parts: Pieces = [];
    for (let at = 0; at < tokens.length; at += size) parts.push(...decoder.push(tokens.subarray(at, at + size)));
    return joined([...parts, ...decoder.end()]);
  };

  test("have the same text in any pieces, also with bytes that are no characters", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: Math.min(tokenizer.vocabSize, 60) - 1 }), { maxLength: 80 }), (ids) => {
        const tokens = Int32Array.from(ids);
        const whole = read(tokens, Math.max(1, tokens.length));
        for (const size of [1, 2, 3, 7]) expect(read(tokens, size)).toBe(whole);
      }),
      { numRuns: 200 },
    );
  });

  test("have the text of the tokenizer, with its spaces and characters of several tokens", () => {
    const text = name === "bytes" ? `a字😀 é\nb<|end|> a😀${"字".repeat(40)}` : "a b字 a";
    const tokens = tokenizer.encode(text);
    expect(read(tokens, 1)).toBe(tokenizer.decode(tokens));
    expect(read(tokens, tokens.length)).toBe(tokenizer.decode(tokens));
  });
});

test("a space after a special token is kept, although the tokenizer removes one at the start of a text", () => {
  const decoder = new TokenText(pieces, new Map());
  expect(decoder.push(Int32Array.of(0, 2, 2))).toEqual([{ special: "<s>" }, { text: " a a" }]);
  expect(new TokenText(pieces, new Map()).push(Int32Array.of(2, 2))).toEqual([{ text: "a a" }]);
});
