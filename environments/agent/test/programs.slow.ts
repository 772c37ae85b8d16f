import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Workspaces } from "@mrlm/spec";
import { openWorkspaces, play, PYTHON, textsOf } from "./support/play.ts";

let workspaces: Workspaces;
beforeAll(async () => void (workspaces = await openWorkspaces()), 60_000);
afterAll(() => workspaces.close());

test("a program in Python calls the model by urllib alone, and its output is graded", async () => {
  const program = { "agent.py": `${PYTHON}\nask(sys.stdin.read())\nprint(ask("again"))` };
  const right = await play(workspaces, { files: program, policy: (_, turn) => (turn === 0 ? "one" : "right") });
  expect(textsOf(right)).toEqual(["Do it.", "again"]);
  expect(right.reward).toBe(1);
  expect((await play(workspaces, { files: program })).reward).toBe(0);
});
