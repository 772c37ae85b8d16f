import { expect, test } from "@jest/globals";
import type { Message, ToolDefinition } from "@mrlm/spec";
import { characterTokenizerFiles, chatRenderer } from "../src/renderer.ts";

const calculator: ToolDefinition = {
  name: "calculator",
  description: "Evaluates an expression.",
  parameters: { type: "object", properties: { expression: { type: "string" }, digits: { type: "integer" } } },
};
const clock: ToolDefinition = { name: "clock", description: "", parameters: { type: "object" } };
const question: Message = { role: "user", parts: [{ type: "text", text: "6*7" }] };

test("a tokenizer with a marker of calls shows tools, and reads a call back", () => {
  const tokenizerFiles = characterTokenizerFiles({ tags: ["<|tool_call_start|>", "<|tool_call_end|>"] });
  const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [] });
  const call: Message = {
    role: "assistant",
    parts: [{ type: "tool-call", id: "call00001", name: "calculator", arguments: { expression: "6*7" } }],
  };
  const [sequence] = renderer.supervise([question, call], [calculator, clock]);
  expect(renderer.decode(sequence?.tokens as Int32Array)).toBe(
    "<|system|>calculator(expression, digits)\nclock()<|end|><|user|>6*7<|end|><|assistant|>" +
      '<|tool_call_start|>[calculator(expression="6*7")]<|tool_call_end|><|end|>',
  );
  const learnt = sequence?.tokens.filter((_, i) => sequence.mask[i] === 1) as Int32Array;
  expect(renderer.parse(learnt).parts).toEqual([
    {
      type: "tool-call",
      id: expect.stringMatching(/^[A-Za-z0-9]{9}$/),
      name: "calculator",
      arguments: { expression: "6*7" },
    },
  ]);
});

test("without one, its template has no tools, and an environment with tools is refused", () => {
  const renderer = chatRenderer({ tokenizerFiles: characterTokenizerFiles(), eosTokenIds: [] });
  expect(() => renderer.render([question], [calculator])).toThrow(/does not show/);
});
