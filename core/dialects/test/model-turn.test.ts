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
