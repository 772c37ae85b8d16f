import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { cheatsOf, TASKS } from "./support/harbor.ts";

const names = readdirSync(TASKS);
const read = (...path: string[]): string => readFileSync(join(...path), "utf8");

test("there are 24 tasks, eight of each difficulty, with all parts and two cheats", () => {
  const levels = names.map((name) => /^difficulty = "(\w+)"$/m.exec(read(TASKS, name, "task.toml"))?.[1]);
  expect(levels.toSorted()).toEqual(["easy", "hard", "medium"].flatMap((level) => Array(8).fill(level)));
  for (const name of names) {
    for (const part of ["instruction.md", "environment/Dockerfile", "tests/check.py", "solution/solve.sh"])
      expect([name, part, existsSync(join(TASKS, name, part))]).toEqual([name, part, true]);
    expect([name, cheatsOf(join(TASKS, name)).length]).toEqual([name, 2]);
  }
});

test("each task has the same test.sh, and the same copy of verify.py", () => {
  const verify = read(TASKS, "..", "verify.py");
  for (const name of names) {
    expect([name, read(TASKS, name, "tests/verify.py") === verify]).toEqual([name, true]);
    expect([name, read(TASKS, name, "tests/test.sh")]).toEqual([
      name,
      read(TASKS, names[0] as string, "tests/test.sh"),
    ]);
  }
});
