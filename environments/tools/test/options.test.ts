import { describe, expect, test } from "@jest/globals";
import { type ToolsOptions, toolsOptions } from "../src/options.ts";

const familiesOf = (given: object): ToolsOptions["families"] => toolsOptions.parse(given).families;

test("families are those that the toolsets and turns permit", () => {
  expect(familiesOf({})).toEqual(["calculation", "file_tree", "site", "table", "findings"]);
  expect(familiesOf({ toolsets: ["calculator@1"] })).toEqual(["calculation"]);
  expect(familiesOf({ toolsets: ["calculator", "files"] })).toEqual(["calculation", "file_tree", "table"]);
  expect(familiesOf({ turns: 3 })).toEqual(["calculation", "file_tree", "site", "table"]);
});

describe("refuses", () => {
  test.each([
    ["a family without its toolset", { toolsets: ["calculator@1"], families: ["table"] }, "families", "files"],
    [
      "a weighted family without its toolset",
      { toolsets: ["web@1"], families: { site: 1, table: 1 } },
      "families",
      "files",
    ],
    ["a family that needs more turns", { turns: 4, families: ["findings"] }, "families", "5 turns"],
    ["toolsets without a generator", { toolsets: ["mcp@1"] }, "toolsets", "`data`"],
    ["families beside a file", { data: { path: "a.jsonl" }, families: ["site"] }, "families", "no effect"],
    ["a toolset twice", { toolsets: ["calculator@1", "calculator@1"] }, "toolsets", "twice"],
    ["an id that is none", { toolsets: ["Calculator 1"] }, "toolsets", "calculator@1"],
    ["a penalty above 0", { rewards: { malformed: 0.1 } }, "rewards", "<=0"],
    ["a negative weight of the answer", { rewards: { answer: -1 } }, "rewards", ">=0"],
    ["a preset that does not exist", { rewards: { preset: "dense" } }, "rewards", "outcome"],
    ["the former weight of undecided answers", { rewards: { undecided: 0 } }, "rewards", "is wrong and earns"],
    ["an option that does not exist", { tools: [] }, undefined, "tools"],
  ])("%s", (_name, given, path, message) => {
    const { error } = toolsOptions.safeParse(given);
    expect(error?.issues[0]?.path[0]).toBe(path);
    expect(error?.issues[0]?.message).toContain(message);
  });
});

test("takes a weight of 0 as leaving a family out", () => {
  expect(familiesOf({ toolsets: ["web@1"], families: { site: 1, table: 0 } })).toEqual({ site: 1, table: 0 });
});
