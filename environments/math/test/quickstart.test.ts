import { createHash } from "node:crypto";
import { expect, test } from "@jest/globals";
import { mathOptions } from "../src/options.ts";
import { promptOf } from "../src/prompt.ts";
import { solutionOf } from "../src/solution.ts";
import { mathTasks } from "../src/tasks.ts";

/** Hash of the tasks of the quickstart: its figures are valid for these tasks only. */
const options = mathOptions.parse({ families: ["ordering"], difficulty_range: 5, style: "terse" });

test("the tasks and prompts of the quickstart never change", async () => {
  const tasks = mathTasks(options);
  const rows: unknown[] = [];
  for (const [split, count] of [
    ["train", 500],
    ["eval", 200],
  ] as const) {
    for (let i = 0; i < count; i++) {
      const task = await tasks.get(split, i);
      rows.push([task.id, promptOf(task, options), solutionOf(task).answer]);
    }
  }
  expect(rows[0]).toEqual(["train/0", [{ role: "user", parts: [{ type: "text", text: "sort 020126" }] }], "001226"]);
  expect(createHash("sha256").update(JSON.stringify(rows)).digest("hex")).toBe(
    "6837f68d022eeb1d6a09798f00c7bd319b2729444950bcdf4b2a1ec87f40a523",
  );
});
