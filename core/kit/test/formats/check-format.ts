import { expect, test } from "@jest/globals";
import type { JsonObject, Message, Part, ToolCallPart } from "@mrlm/spec";
import type { ParseContext } from "@mrlm/spec/host";
import fc from "fast-check";
import { textMessage } from "../../src/index.ts";
import type { ToolFormatName } from "../../src/renderer/formats/formats.ts";
import { CompletionParser, MAX_BLOCK } from "../../src/renderer/completion-parser.ts";
import { TOOL_FORMATS } from "../../src/renderer/formats/formats.ts";
import { FAMILIES, type Model, modelOf } from "./models.ts";

/** Examined characters per character of a text. Each is examined by the search for markers, by the reader of the call and as the start of a marker. */
const EXAMINED = 12;

const call: fc.Arbitrary<Pick<ToolCallPart, "name" | "arguments">> = fc.record({
  name: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,8}$/),
  arguments: fc.dictionary(
    fc.stringMatching(/^[a-z][A-Za-z0-9_]{0,5}$/),
    fc.oneof(
      // Strings of the alphabet of the models.
      fc.string({ unit: fc.constantFrom(..."ab \"'\\<>{}[]:,=\n\t字😀é"), maxLength: 12 }),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
      fc.constantFrom(true, false, null),
      fc.array(fc.oneof(fc.integer(), fc.constantFrom("a", "]", "}", null)), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("x", "y"), fc.integer(), { maxKeys: 2 }),
    ),
    { maxKeys: 4 },
  ),
});

/** Schema with the types of the arguments, which the format of Qwen-Coder needs to distinguish values from text. */
const schemaOf = ({ name, arguments: given }: { name: string; arguments: JsonObject }) => ({
  name,
  description: "",
  parameters: {
    properties: Object.fromEntries(
      Object.entries(given).map(([key, value]) => [key, value === null ? { type: "null" } : { type: typeOf(value) }]),
    ),
  },
});
const typeOf = (value: unknown): string => (Array.isArray(value) ? "array" : typeof value);

/** Divides tokens at the given places. */
function pieces(tokens: Int32Array, cuts: readonly number[]): Int32Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (tokens.length + 1)))].toSorted((one, other) => one - other);
  return [...places, tokens.length].map((place, i) => tokens.subarray(i === 0 ? 0 : places[i - 1], place));
}

function single(tokens: Int32Array): Int32Array[] {
  return Array.from(tokens, (token) => Int32Array.of(token));
}

const shown = (parts: readonly Part[]): unknown[] =>
  parts.map((part) => (part.type === "tool-call" ? [part.name, part.arguments] : part));

/** Fragments of calls. */
const FRAGMENTS = [
  '{"name": "f", "arguments": {}}',
  '{"name": "f", "parameters": {"a": "',
  "functions.f:0",
  "function",
  "f\n```json\n{}\n```",
  "<function=f>",
  "<parameter=a>\n1\n</parameter>",
  "</function>",
  "[f(a=1)]",
  "[f(",
  "constructor",
  "__proto__",
  "<think>",
  "</think>",
  '"',
  " ",
  "\n",
  "<",
  "[",
];

/** Numbers of cases. */
export interface Counts {
  readonly seed: number;
  /** Rendered calls that are read again. */
  readonly calls: number;
  /** Calls with one to three faults. */
  readonly faults: number;
  /** Texts of markers and fragments of calls. */
  readonly texts: number;
  /** Characters of the long texts. */
  readonly characters: number;
}

/** Tests the parser of a format with generated cases. */
export function checkFormat(
  name: ToolFormatName,
  { seed, calls: callRuns, faults, texts: textRuns, characters }: Counts,
  model = modelOf(name),
): void {
  const { renderer, tokenizer } = model;
  const ask = textMessage("user", "a");
  /** Returns the tokens of an answer. */
  const written = (parts: readonly Part[]): Int32Array => {
    const [sequence] = renderer.supervise([ask, { role: "assistant", parts }]);
    return (sequence?.tokens ?? new Int32Array()).subarray(renderer.render([ask]).tokens.length);
  };
  /** Parses tokens as a whole and in pieces, which must give the same message. Returns it, and the parts of the pieces. */
  const parseTwice = (
    tokens: Int32Array,
    divided: readonly Int32Array[],
    context: ParseContext = {},
  ): [Message, Part[]] => {
    const whole = renderer.parse(tokens, context);
    const stream = renderer.stream(context);
    const parts = divided.flatMap((piece) => stream.push(piece));
    parts.push(...stream.end());
    expect(stream.message()).toEqual(whole);
    return [whole, parts];
  };

  test(`${callRuns} answers with rendered calls are read again, beside text and one another`, () => {
    const isWhole = name === "llama-json" || name === "llama-pythonic" || name === "pythonic";
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 3 }), fc.boolean(), (calls, hasText) => {
        fc.pre(new Set(calls.map((one) => one.name)).size === calls.length);
        const parts = [
          // Calls of these formats are the whole answer.
          ...(hasText && !isWhole ? [{ type: "text" as const, text: "Let me see." }] : []),
          ...calls.map((one, i) => ({ type: "tool-call" as const, id: `aB3dE5f7${i}`, ...one })),
        ];
        expect(shown(renderer.parse(written(parts), { tools: calls.map(schemaOf) }).parts)).toEqual(shown(parts));
      }),
      { numRuns: callRuns, seed },
    );
  });

  test(`${faults} calls with faults are calls or malformed calls with a message and a place, and malformed ones have the same tokens again`, () => {
    const fault = fc.record({
      at: fc.nat(),
      deleted: fc.nat({ max: 2 }),
      inserted: fc.constantFrom("", "", ...markersOf(model), ..."\"'\\<>{}[](),:=\n1a", "None", "\u0000"),
    });
    fc.assert(
      fc.property(call, fc.array(fault, { minLength: 1, maxLength: 3 }), (one, changes) => {
        let characters = [
          ...tokenizer.decode(written([{ type: "tool-call", id: "aB3dE5f70", ...one }]).subarray(0, -1)),
        ];
        for (const { at, deleted, inserted } of changes)
          characters = characters.toSpliced(at % characters.length, deleted, ...inserted);
        const tokens = tokenizer.encode(characters.join(""));
        const [message] = parseTwice(tokens, single(tokens), { tools: [schemaOf(one)] });
        const malformed = message.parts.filter((part) => part.type === "malformed-call");
        for (const { text, error, offset } of malformed) {
          expect(error).toMatch(/^.{8,}[.]$/su);
          expect(offset).toBeLessThanOrEqual(text.length);
        }
        if (malformed.length === message.parts.length && message.parts.length > 0)
          expect(written(message.parts).subarray(0, -1)).toEqual(tokens);
      }),
      { numRuns: faults, seed },
    );
  });

  const soup = fc
    .array(
      fc.oneof(
        fc.constantFrom(...markersOf(model), ...FRAGMENTS),
        fc.string({ unit: fc.constantFrom(..."ab \"'\\<>{}[]():,=\n1字😀"), maxLength: 4 }),
      ),
      { maxLength: 25 },
    )
    .map((words) => words.join(""));

  test(`${textRuns} texts are read without an error, the same in any pieces, and no character is lost`, () => {
    fc.assert(
      fc.property(soup, fc.array(fc.nat(), { maxLength: 6 }), fc.boolean(), (text, cuts, isSingle) => {
        const tokens = tokenizer.encode(text);
        const [whole, parts] = parseTwice(tokens, isSingle ? single(tokens) : pieces(tokens, cuts));
        if (whole.parts.every(({ type }) => type === "text" || type === "malformed-call")) {
          const texts = parts.map((part) => ("text" in part ? part.text : ""));
          expect(texts.join("")).toBe(text);
        }
      }),
      { numRuns: textRuns, seed },
    );
  });

  test(`${Math.ceil(textRuns / 10)} texts are read in linear time`, () => {
    fc.assert(
      fc.property(fc.array(soup, { minLength: 1, maxLength: 40 }), (texts) => {
        const text = texts.join("");
        expect(examined(model, text, text.length)).toBeLessThan(EXAMINED * text.length + 200);
        expect(examined(model, text, 1)).toBeLessThan(3 * EXAMINED * text.length + 100_000);
      }),
      { numRuns: Math.ceil(textRuns / 10), seed },
    );
  });

  test(`opening markers of ${characters} characters take linear time and bounded memory`, () => {
    for (const { marker } of TOOL_FORMATS[name].openings) {
      const text = marker.repeat(Math.ceil(characters / marker.length) + 10);
      const parts: Part[] = [];
      expect(examined(model, text, 4096, parts)).toBeLessThan(EXAMINED * text.length);
      expect(parts.map((part) => ("text" in part ? part.text : "")).join("")).toBe(text);
      expect(parts.filter((part) => "text" in part && part.text.length > MAX_BLOCK)).toEqual([]);
    }
  });

  test("a call of 3 MiB is divided at the limit, the same in any pieces", () => {
    const { marker, end } = TOOL_FORMATS[name].openings[0] as (typeof TOOL_FORMATS)["hermes"]["openings"][0];
    const text = `${marker}😀${"a".repeat(MAX_BLOCK - marker.length - 3)}😀${"b".repeat(2 * MAX_BLOCK)}${end ?? ""}${marker}`;
    const [whole, divided]: [Part[], Part[]] = [[], []];
    expect(examined(model, text, text.length, whole)).toBeLessThan(EXAMINED * text.length);
    expect(examined(model, text, 1000, divided)).toBeLessThan(EXAMINED * text.length);
    const first = {
      type: "malformed-call",
      text: text.slice(0, MAX_BLOCK - 1),
      format: name,
      error: `The call is longer than ${MAX_BLOCK} characters.`,
      offset: MAX_BLOCK - 1,
    };
    expect(whole[0]).toEqual(first);
    expect(divided[0]).toEqual(first);
    expect(joined(divided)).toEqual(joined(whole));
  });
}

function markersOf({ name }: Model): string[] {
  return [...TOOL_FORMATS[name].openings.map(({ marker }) => marker), ...TOOL_FORMATS[name].inner];
}

/** Reads a text in pieces of a number of characters and returns the number of characters examined. Markers that are tokens are pieces of their own. */
function examined(model: Model, text: string, size: number, parts: Part[] = []): number {
  const { specials } = FAMILIES[model.name];
  const parser = new CompletionParser({
    name: model.name,
    format: TOOL_FORMATS[model.name],
    specials: new Set(specials),
    thinking: { open: "<think>", close: "</think>" },
    isThinking: false,
    tools: undefined,
    nextId: () => "aB3dE5f7G",
  });
  const special = new RegExp(`(${specials.map((marker) => marker.replaceAll(/[|[\]]/g, "\\$&")).join("|") || "(?!)"})`);
  for (const [i, piece] of text.split(special).entries()) {
    if (i % 2 === 1) parts.push(...parser.pushToken(piece));
    else for (let at = 0; at < piece.length; at += size) parts.push(...parser.push(piece.slice(at, at + size)));
  }
  parts.push(...parser.end());
  return parser.examined;
}

/** Joins adjacent text. */
function joined(parts: readonly Part[]): Part[] {
  const result: Part[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.type === "text" && last?.type === "text")
      result.splice(-1, 1, { type: "text", text: last.text + part.text });
    else result.push(part);
  }
  return result;
}
