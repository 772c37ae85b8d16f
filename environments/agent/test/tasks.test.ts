import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { bareEnvironment } from "@mrlm/testing";
import { agent } from "../src/definition.ts";

test.each([
  ['[ "$(cat "$SCORE/output")" = "$(cat "$SCORE/answer")" ]', false],
  ["cmp ${SCORE}/answer sum.txt", false],
  ["python3 $SCORE/check.py", true],
])("a row without `answer` under the score %s", async (command, isTaken) => {
  const folder = mkdtempSync(join(tmpdir(), "agent-tasks-"));
  const path = join(folder, "rows.jsonl");
  writeFileSync(path, '{"instruction": "a", "answer": "1"}\n{"instruction": "b", "answers": "2"}\n');
  const made = bareEnvironment(agent, { command: "true", data: { path, eval_share: 0 }, score: { command } }, {});
  const tasks = made.then(({ context }) => context.tasks.splits);
  if (isTaken) expect(await tasks).toEqual({ train: 2, eval: 0 });
  else await expect(tasks).rejects.toMatchObject({ code: "DATA_INVALID", message: expect.stringContaining("jsonl:2") });
  rmSync(folder, { recursive: true });
});
