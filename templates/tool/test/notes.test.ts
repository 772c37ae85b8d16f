import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolResult } from "@mrlm/kit";
import { environmentContract, pluginContract } from "@mrlm/testing";
import plugin from "../dist/index.js";
import { notes } from "../dist/notes.js";

const random = (): never => assert.fail("Notes need no random numbers.");

// Definitions, arguments, separate episodes, abort, close: with the examples of the plugin.
pluginContract({ plugins: [plugin] });

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
