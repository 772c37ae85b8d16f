import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { bareEnvironment } from "@mrlm/testing";
import { harbor } from "../src/definition.ts";
import { readTask } from "../src/task/task.ts";
import { BROKEN_TASKS } from "./support/broken-tasks.ts";
import { taskFolder } from "./support/task-folder.ts";

type Files = Parameters<typeof taskFolder>[0];

async function faultOf(files: Files): Promise<string> {
  const { folder, remove } = taskFolder(files);
  try {
    return await readTask(folder).then(
      () => "no fault",
      (error: Error & { code?: string }) => `${error.code} ${error.message.replaceAll(folder, "")}`,
    );
  } finally {
    remove();
  }
}

test.each(BROKEN_TASKS)("%j is refused with its place", async (files, message) => {
  expect(await faultOf(files)).toContain(`DATA_INVALID ${message}`);
});

test("a link is refused", async () => {
  const { folder, remove } = taskFolder();
  symlinkSync("/etc/passwd", join(folder, "tests", "passwd"));
  await expect(readTask(folder)).rejects.toThrow("/tests/passwd: the folder of a task has only files and folders");
  remove();
});

test("keys of other programs, older forms, and the parts without an effect are read", async () => {
  const { folder, remove } = taskFolder({
    "task.toml":
      'version = "1.0"\nsource = "x"\n[metadata]\ndifficulty = "easy"\n[task]\nname = "a/b"\n[agent]\nuser = "root"\n[environment]\nmemory = "2G"\nallow_internet = true\nos = "Linux"\n',
    "instruction.md": "<!-- canary 1 -->\n# canary 2\n\nWrite it.\n",
    "environment/Dockerfile":
      'FROM a:1 AS base\nLABEL a=b\nARG V=1\nENV A=$V B="two words" \\\n  # comment\n  C=\'$A\'\nENV D one ${A:-0}\nWORKDIR /x\nWORKDIR y/$V\nCOPY --chmod=755 *.csv sub ./in/\nCOPY ["a.csv", "/b.csv"]\nRUN ["echo", "a b"]\nCMD ["sh"]\n',
    "environment/a.csv": "1\n",
    "environment/sub/c.txt": "2\n",
  });
  const task = await readTask(folder);
  remove();
  expect(task).toMatchObject({ name: "a/b", from: "a:1", steps: [{ instruction: "Write it.\n" }] });
  const { env, workdir, steps } = task.dockerfile as NonNullable<typeof task.dockerfile>;
  expect(env).toMatchObject({ A: "1", B: "two words", C: "1", D: "one 1" });
  expect(workdir).toBe("/x/y/1");
  expect(steps.map((step) => (step.kind === "run" ? step.command : step.files.map(({ to }) => to)))).toEqual([
    ["/x/y/1/in/a.csv", "/x/y/1/in/c.txt"],
    ["/b.csv"],
    "'echo' 'a b'",
  ]);
});

test("tasks with one instruction are in one split, in any order of the folders", async () => {
  const made = ["a", "b", "c", "a"].map((text) => taskFolder({ "instruction.md": text }));
  const folders = made.map(({ folder }) => folder);
  const splitsOf = async (tasks: string[]): Promise<unknown> => {
    const options = { tasks, eval_share: 0.34, bases: { "*": "host" } };
    const source = (await bareEnvironment(harbor, options, {})).tasks;
    const sizes = Object.entries(source.splits);
    const all = sizes.map(async ([split, size]) =>
      Promise.all(Array.from({ length: size }, async (_, at) => (await source.get(split, at)).public["instruction"])),
    );
    return (await Promise.all(all)).map((texts) => texts.toSorted());
  };
  const [train, held] = (await splitsOf(folders)) as [string[], string[]];
  expect([...new Set(train)].filter((text) => held.includes(text))).toEqual([]);
  expect([...train, ...held].toSorted()).toEqual(["a", "a", "b", "c"]);
  expect(await splitsOf(folders.toReversed())).toEqual([train, held]);
  await expect(bareEnvironment(harbor, { tasks: folders }, {})).rejects.toMatchObject({
    code: "OPTIONS_INVALID",
    message: expect.stringContaining("environment/Dockerfile:1: the image debian:12 has no base"),
  });
  await expect(bareEnvironment(harbor, { tasks: "/none" }, {})).rejects.toThrow("/none has no task");
  for (const { remove } of made) remove();
});
