import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { bareEnvironment } from "@mrlm/testing";
import { harbor } from "../src/definition.ts";
import { readTask } from "../src/task/task.ts";
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

const toml = (text: string): Files => ({ "task.toml": `schema_version = "1.4"\n${text}` });
const dockerfile = (text: string): Files => ({ "environment/Dockerfile": `FROM debian:12\n${text}` });

test.each<[Files, string]>([
  [{ "task.toml": undefined }, "/task.toml: the file is missing"],
  [{ "task.toml": "a = 1\n[agent\n" }, "/task.toml:2: "],
  [{ "task.toml": "a = 1\n\n\xFF" }, "/task.toml:"],
  [{ "task.toml": 'version = "2.0"\n' }, "/task.toml:1: version: must be version 1"],
  [toml('[agent]\ntimeout_sec = "long"\n'), "/task.toml:3: agent.timeout_sec: "],
  [toml("[agent]\ntimeout_sec = 90000\n"), "/task.toml:3: agent.timeout_sec: must be at most 7200 s"],
  [toml("[agent]\ntimeout_secs = 9\n"), "/task.toml:3: there is no key `timeout_secs` in agent"],
  [toml('[agent]\nuser = "agent"\n'), '/task.toml:3: `agent.user` is "agent", which a workspace'],
  [toml("[verifier]\ntimeout_sec = 0\n"), "/task.toml:3: verifier.timeout_sec: "],
  [toml("[verifier.environment]\ncpus = 1\n"), "/task.toml:2: `verifier.environment` is "],
  [toml('[verifier.env]\nKEY = "${TOKEN}"\n'), "/task.toml:3: the variable KEY is no fixed value"],
  [toml('[environment]\nmemory = "much"\n'), "/task.toml:3: environment.memory: "],
  [toml("[environment]\ngpus = 1\n"), "/task.toml:3: `environment.gpus` is 1, which"],
  [toml('[environment]\nos = "windows"\n'), "/task.toml:3: `environment.os`"],
  [toml('[environment]\nnetwork_mode = "allowlist"\n'), "/task.toml:3: `environment.network_mode`"],
  [toml('[environment.healthcheck]\ncommand = "true"\n'), "/task.toml:2: `environment.healthcheck`"],
  [toml('[[environment.mcp_servers]]\nname = "a"\n'), "/task.toml:2: `environment.mcp_servers`"],
  [toml('[environment]\nworkdir = "app"\n'), "/task.toml:3: environment.workdir: must be an absolute path"],
  [toml('[[artifacts]]\nsource = "/a"\nexclude = ["b"]\n'), "/task.toml:4: `artifacts.0.exclude`"],
  [toml('[[steps]]\nname = "a"\n[[steps]]\nname = "A"\n'), "/task.toml:5: two steps have this name"],
  [toml('[[steps]]\nname = "../a"\n'), "/task.toml:3: steps.0.name: "],
  [toml('[[steps]]\nname = "a"\n[steps.agent]\ntimeout_sec = -1\n'), "/task.toml:5: steps.0.agent.timeout_sec"],
  [toml('[[steps]]\nname = "a"\n'), "/steps/a/instruction.md: the file is missing"],
  [toml('multi_step_reward_strategy = "best"\n'), "/task.toml:2: multi_step_reward_strategy"],
  [{ "instruction.md": undefined }, "/instruction.md: the file is missing"],
  [{ "instruction.md": "<!-- canary 1 -->\n\n" }, "/instruction.md:1: the instruction is empty"],
  [{ "trajectory.json": "{}" }, "/trajectory.json: an earlier conversation"],
  [{ "tests/test.sh": undefined }, "/tests/test.sh: the file is missing"],
  [{ "environment/Dockerfile": undefined }, "/environment/Dockerfile: the file is missing"],
  [{ "environment/docker-compose.yaml": "" }, "/environment/docker-compose.yaml: the task has this file, which"],
  [
    { ...toml('[verifier]\nenvironment_mode = "separate"\n'), "tests/Dockerfile": "FROM a\n" },
    "/tests/Dockerfile: the tests have",
  ],
  [{ "environment/Dockerfile": "# a\nRUN true\n" }, "/environment/Dockerfile:2: a Dockerfile begins with FROM"],
  [{ "environment/Dockerfile": "FROM --platform=a b\n" }, "/environment/Dockerfile:1: `FROM --platform=a b`"],
  [dockerfile("\n# a\nRUN a \\\n  b\nADD a b\n"), "/environment/Dockerfile:6: ADD is an instruction"],
  [dockerfile("FROM b\n"), "/environment/Dockerfile:2: FROM is an instruction"],
  [dockerfile("USER agent\n"), "/environment/Dockerfile:2: `USER agent` is another user"],
  [dockerfile("RUN --network=host true\n"), "/environment/Dockerfile:2: RUN has the option --network=host"],
  [dockerfile("RUN <<EOF\ntrue\nEOF\n"), "/environment/Dockerfile:2: RUN has a here-document"],
  [dockerfile("COPY --from=a b c\n"), "/environment/Dockerfile:2: COPY has the option --from=a"],
  [dockerfile("COPY none /a\n"), "/environment/Dockerfile:2: COPY finds no file none"],
  [dockerfile("COPY a\n"), "/environment/Dockerfile:2: COPY names sources and a target"],
  [dockerfile("ENV a=b c\n"), "/environment/Dockerfile:2: ENV has the form NAME=VALUE"],
  [dockerfile("???\n"), "/environment/Dockerfile:2: the line is no instruction"],
])("%j is refused with its place", async (files, message) => {
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
