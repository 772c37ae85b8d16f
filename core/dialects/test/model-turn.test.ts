import { expect, test } from "@jest/globals";
import { modelTurn } from "../src/nemo-gym/model-turn.ts";
import type { Response } from "../src/nemo-gym/requests.ts";

const turn = (...calls: readonly (readonly [id: string | undefined, text: string])[]) =>
  modelTurn({
    output: calls.map(([id, text]) => ({ type: "function_call", call_id: id, name: "add", arguments: text })),
  } as unknown as Response);

test("D4: calls without an id have ids, each of its own", () => {
  const { message, malformedIds } = turn(["", "{}"], [undefined, "{}"], ["", "{"], ["x", "{}"]);
  expect(message.parts.map((part) => (part.type === "tool-call" ? part.id : part.type))).toEqual([
    "call_0",
    "call_1",
    "malformed-call",
    "x",
  ]);
  expect(malformedIds).toEqual(["call_2"]);
});

test.each([
  ["D16: a key twice", '{"a":1,"a":2}'],
  ["U5: levels", `{"a":${"[".repeat(2_000)}${"]".repeat(2_000)}}`],
])("arguments with %s are malformed", (_name, text) => {
  expect(turn(["x", text]).message.parts).toMatchObject([{ type: "malformed-call" }]);
});

test("reasoning is read, items of the program are passed over, and an answer that is no text is refused", () => {
  const items = (...output: object[]) => modelTurn({ output } as unknown as Response).message.parts;
  const thinking = { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] };
  const refusal = { role: "assistant", content: [{ type: "refusal", refusal: "No." }] };
  expect(
    items(thinking, { type: "web_search_call" }, { type: "message", role: "user", content: "x" }, refusal),
  ).toEqual([
    { type: "thinking", text: "Hm." },
    { type: "text", text: "No." },
  ]);
  expect(() => items({ type: "message", role: "assistant", content: [{ type: "output_image" }] })).toThrow(
    expect.objectContaining({ status: 422, message: expect.stringContaining("response.output.0.content.0") }),
  );
});

test("a message may lack its role, and have no content", () => {
  const message = (more: object): Response =>
    ({ output: [{ type: "message", ...more }, { content: "4" }] }) as unknown as Response;
  for (const more of [{ content: null }, { content: [{ type: "output_text", text: "" }] }, {}])
    expect(modelTurn(message(more)).message.parts).toEqual([{ type: "text", text: "4" }]);
});
