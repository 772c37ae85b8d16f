import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, ToolResult } from "@mrlm/spec";
import { barePluginContext, toolsetContract } from "@mrlm/testing";
import plugin from "../dist/index.js";

const note: JsonObject = { title: "sum", content: "12" };
const make = (max_notes: number) => plugin.tools!["notes@1"]!(barePluginContext(), { max_notes });

toolsetContract({
  name: "notes@1",
  make: () => make(20),
  calls: [
    { tool: "write_note", args: note },
    { tool: "read_notes", args: {} },
  ],
  state: { change: { tool: "write_note", args: note }, read: { tool: "read_notes", args: {} } },
});

test("a note above the limit is an error that the policy reads", async () => {
  const { signal } = new AbortController();
  const random = () => assert.fail("Notes need no random numbers.");
  const { tools } = await (await make(1)).open({ seed: 1, signal, random });
  const write = (title: string): Promise<ToolResult> => tools[0]!.call({ title, content: "" }, { signal });
  assert.equal((await write("one")).isError, false);
  assert.equal((await write("two")).isError, true);
  assert.equal((await write("one")).isError, false);
});
