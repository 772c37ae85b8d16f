import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, ToolResult } from "@mrlm/spec";
import { environmentContract, toolsetContract } from "@mrlm/testing";
import plugin from "../dist/index.js";
import { notes } from "../dist/notes.js";

const random = (): never => assert.fail("Notes need no random numbers.");
const note: JsonObject = { title: "sum", content: "12" };

toolsetContract({
  name: "my-tool@1",
  make: () => notes({ max_notes: 20 }),
  calls: [
    { tool: "write_note", args: note },
    { tool: "read_notes", args: {} },
  ],
  state: { change: { tool: "write_note", args: note }, read: { tool: "read_notes", args: {} } },
});

environmentContract({ plugins: [plugin], environment: "my-tool@1" });

test("a note above the limit is an error that the policy reads", async () => {
  const { signal } = new AbortController();
  const { tools } = await notes({ max_notes: 1 }).open({ seed: 1, signal, random });
  const [writer] = tools;
  assert.ok(writer);
  const write = (title: string): Promise<ToolResult> => writer.call({ title, content: "" }, { signal });
  assert.equal((await write("one")).isError, false);
  assert.equal((await write("two")).isError, true);
  assert.equal((await write("one")).isError, false);
});
