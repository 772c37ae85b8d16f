import { describe, expect, test } from "@jest/globals";
import type { ToolDefinition } from "@mrlm/spec";
import { typedAnswer } from "../src/person/typed-answer.ts";

const tool = (name: string, properties: object, required?: readonly string[]): ToolDefinition =>
  ({
    name,
    description: "",
    parameters: { type: "object", properties, ...(required && { required }) },
  }) as ToolDefinition;
const TOOLS = [
  tool("calculator", { expression: { type: "string" } }),
  tool("pick", { count: { type: "integer" } }),
  tool("read", { path: { type: "string" }, lines: { type: "integer" } }, ["path"]),
  tool("move", { from: { type: "string" }, to: { type: "string" } }, ["from", "to"]),
  tool("now", {}),
];
const typed = (text: string) => {
  const answer = typedAnswer(text, TOOLS, "call-1");
  return "fault" in answer ? answer.fault : answer.message.parts;
};
const call = (name: string, given: object) => [{ type: "tool-call", id: "call-1", name, arguments: given }];

describe("what a person types", () => {
  test.each([
    ["12", "12"],
    ["  two\nlines ", "  two\nlines "],
    ["", ""],
    ["//etc/hosts", "/etc/hosts"],
    ["3/4", "3/4"],
  ])("%j is a text", (text, sent) => expect(typed(text)).toEqual([{ type: "text", text: sent }]));

  test.each([
    ['/calculator {"expression": "1+1"}', "calculator", { expression: "1+1" }],
    ["/calculator 1+1", "calculator", { expression: "1+1" }],
    // A text argument is what was typed, also where that is JSON of another type.
    ["/calculator 12", "calculator", { expression: "12" }],
    ["/pick 3", "pick", { count: 3 }],
    ["/pick three", "pick", { count: "three" }],
    ["/read notes/a.txt", "read", { path: "notes/a.txt" }],
    ['/move {"from": "a",\n"to": "b"}', "move", { from: "a", to: "b" }],
    ["/now", "now", {}],
    ["/calculator", "calculator", {}],
  ])("%j calls a tool", (text, name, given) => expect(typed(text)).toEqual(call(name, given)));

  test.each([
    ["/", /no tool ""; there are calculator, pick/],
    ["/unknown 1", /no tool "unknown"/],
    ["/move a b", /arguments of move are a JSON object, such as \{"from":"\.\.\.","to":"\.\.\."\}/],
    ["/now 1", /arguments of now are a JSON object/],
    [`/calculator ${"[".repeat(100_000)}`, undefined],
  ])("%j is refused, with the reason", (text, fault) => {
    if (fault !== undefined) expect(typed(text)).toMatch(fault);
    else expect(typed(text)).toEqual(call("calculator", { expression: text.slice("/calculator ".length) }));
  });
});
