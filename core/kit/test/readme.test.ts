import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import * as kit from "../src/index.ts";

test("U12: README.md lists every export and no other", () => {
  const table = readFileSync(new URL("../README.md", import.meta.url), "utf8").split("```ts")[0] as string;
  const listed = [...table.matchAll(/`(\w+)(?:\([^)]*\))?`/g)].map(([, name]) => name as string);
  expect(listed.toSorted()).toEqual(Object.keys(kit).toSorted());
});
