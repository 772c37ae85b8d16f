import { expect, test } from "@jest/globals";
import type { JsonObject, Message, Part, ToolDefinition } from "@mrlm/spec";
import { textMessage } from "../../src/index.ts";
import { type Model, modelOf } from "./models.ts";
import type { ToolFormatName } from "../../src/renderer/formats/formats.ts";
import { parseCompletion } from "./parse-completion.ts";

/** Place of the fault in a malformed call. */
const CARET = "‸";

/** Malformed calls and their messages. A caret stands before the character of the fault; without it the fault is at the end. */
export type MalformedCalls = readonly (readonly [call: string, error: string])[];

/** Text of well-formed calls and what they are. */
export type Calls = readonly (readonly [text: string, ...calls: (readonly [name: string, given: JsonObject])[]])[];

/** Tests a format against tables of calls, as tokens: as a whole, token by token, and rendered back. */
export function checkTable(
  name: ToolFormatName,
  table: { readonly calls: Calls; readonly malformed: MalformedCalls; readonly tools?: readonly ToolDefinition[] },
): void {
  const model = modelOf(name);
  const context = table.tools === undefined ? {} : { tools: table.tools };

  test.each(table.calls)("%j is read", (text, ...calls) => {
    const { parts } = parseBoth(model, text, context);
    expect(shown(parts)).toEqual(calls);
    // Markers that are not special tokens are found in the text.
    if (table.tools === undefined) expect(shown(parseCompletion(text, name).parts)).toEqual(calls);
  });

  test.each(table.malformed)("%j is malformed", (marked, error) => {
    const offset = marked.includes(CARET) ? marked.indexOf(CARET) : marked.length;
    const text = marked.replace(CARET, "");
    const message = parseBoth(model, text, context);
    expect(message.parts).toEqual([{ type: "malformed-call", text, format: name, error, offset }]);
    const ask = textMessage("user", "a");
    const { tokens } = model.renderer.render([ask, message, ask]);
    expect(model.tokenizer.decode(tokens)).toBe(
      `<|user|>a<|end|><|assistant|>${text}<|end|><|user|>a<|end|><|assistant|>`,
    );
    const sampled = model.tokenizer.encode(text);
    const begin = model.renderer.render([ask]).tokens.length;
    expect(tokens.subarray(begin, begin + sampled.length)).toEqual(sampled);
  });

  test("the table has at least 40 malformed calls, all different", () => {
    expect(new Set(table.malformed.map(([text]) => text)).size).toBe(table.malformed.length);
    expect(table.malformed.length).toBeGreaterThanOrEqual(40);
  });
}

const shown = (parts: readonly Part[]): unknown[] =>
  parts.map((part) => (part.type === "tool-call" ? [part.name, part.arguments] : part));

/** Returns the message of a text, which must be the same token by token. */
export function parseBoth(
  model: Model,
  text: string,
  context: { readonly tools?: readonly ToolDefinition[] },
): Message {
  const tokens = model.tokenizer.encode(text);
  const whole = model.renderer.parse(tokens, context);
  const stream = model.renderer.stream(context);
  for (let i = 0; i < tokens.length; i++) stream.push(tokens.subarray(i, i + 1));
  stream.end();
  expect(stream.message()).toEqual(whole);
  return whole;
}
