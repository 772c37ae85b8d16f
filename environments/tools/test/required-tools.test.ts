import { expect, test } from "@jest/globals";
import { RequiredTools } from "../src/required-tools.ts";

test("a requirement is met once, by one of its tools", () => {
  const required = new RequiredTools([["search_files", "list_files"], "read_file"]);
  expect(required.coverage).toBe(0);
  expect(required.cover("list_files")).toBe(1);
  expect(required.cover("search_files")).toBe(0);
  expect(required.cover("list_files")).toBe(0);
  expect(required.coverage).toBe(1 / 2);
  expect(required.cover("read_file")).toBe(1);
  expect(required.coverage).toBe(1);
});

test("a tool is another one where a task states its tools, also if it requires none", () => {
  expect(new RequiredTools(["calculator"]).isOther("search")).toBe(true);
  expect(new RequiredTools(["calculator"]).isOther("calculator")).toBe(false);
  expect(new RequiredTools([]).isOther("search")).toBe(true);
  expect(new RequiredTools(undefined).isOther("search")).toBe(false);
});

test("a task without requirements has no coverage", () => {
  expect(new RequiredTools([]).coverage).toBeUndefined();
  expect(new RequiredTools(undefined).coverage).toBeUndefined();
});
