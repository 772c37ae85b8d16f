import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { conversations } from "./record-logs.ts";

test("logs.jsonl has the conversations of the agent", async () => {
  const lines = readFileSync(new URL("../logs.jsonl", import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines).toHaveLength(400);
  expect(lines.slice(0, 20)).toEqual((await conversations(20)).map((row) => JSON.stringify(row)));
});
