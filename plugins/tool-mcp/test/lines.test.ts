import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { answeredId, Lines } from "../src/lines.ts";

/** Feeds a text in pieces, and returns the lines; of too long ones both ends. */
function linesOf(text: string, limit: number, piece: number): unknown[] {
  const found: unknown[] = [];
  const lines = new Lines(limit, { line: (line) => found.push(line), tooLong: (...ends) => found.push(ends) });
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += piece) lines.push(bytes.subarray(i, i + piece));
  return found;
}

test("property: lines do not depend on the pieces in which they arrive", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), fc.integer({ min: 1, max: 50 }), (texts, piece) => {
      const written = texts.map((each) => each.replaceAll("\n", " "));
      const text = written.map((each) => `${each}\n`).join("");
      const expected = written.filter((each) => each.trim() !== "").map((each) => Buffer.from(each).toString());
      expect(linesOf(text, 1_000_000, piece)).toEqual(expected);
    }),
  );
});

test("of a line above the limit the ends are kept, and the lines around it are not changed", () => {
  const long = `${"a".repeat(5000)}${"b".repeat(90_000)}${"c".repeat(5000)}`;
  const expected = ["before", ["a".repeat(4096), "c".repeat(4096)], "after"];
  for (const piece of [1000, 4096, 65_536, 200_000])
    expect(linesOf(`before\n${long}\nafter\nunfinished`, 10_000, piece)).toEqual(expected);
});

test("property: an answer names its request by its ends, whatever its content", () => {
  const forgeries = ['"}],"jsonrpc":"2.0","id":5}', '{"jsonrpc":"2.0","id":5,', '"id":5}', '}],"id":5}'];
  const content = fc.oneof(fc.string(), fc.constantFrom(...forgeries));
  fc.assert(
    fc.property(fc.nat(), content, fc.nat(), fc.boolean(), (id, text, nested, first) => {
      const result = { content: [{ type: "text", text }], structuredContent: { text, id: nested }, id: nested };
      const head = { jsonrpc: "2.0", id };
      const message = JSON.stringify(first ? { ...head, result } : { result, ...head });
      expect(answeredId(message.slice(0, 60), message.slice(-60))).toBe(id);
    }),
  );
});

test("a message that is no answer names no request", () => {
  expect(answeredId('{"jsonrpc":"2.0","method":"x","params":{"id":5', '{"id":5}}')).toBeUndefined();
  expect(answeredId("[[[[", "]]]]")).toBeUndefined();
});
