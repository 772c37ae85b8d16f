import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { fakePython } from "./support/fake-python.ts";
import { run } from "./support/mrlm.ts";
import { runHere } from "./support/run-here.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const directory = temporaryDirectory();
/** No process listens there: a run that reached its engine would fail with another error. */
const REMOTE = { ...TINY, server: {}, engine: { address: "127.0.0.1:9" } };
const trainArguments = (config: object) => ["train", "--config", writeConfig(directory, config), "--output", directory];
const train = (config: object, env?: NodeJS.ProcessEnv) => runHere(trainArguments(config), env);

const NO_ENGINE = { MRLM_CACHE: join(directory, "empty-cache") };

test.each([
  [
    "an environment that is not there",
    { ...REMOTE, environments: [{ id: "mth@1" }] },
    /^error ENVIRONMENT_NOT_FOUND: \S+tiny\.yaml:\d+:\d+: .*"mth@1"\. Did you mean "math@2"\?$/m,
  ],
  [
    "a former version of an environment",
    { ...REMOTE, environments: [{ id: "math@1" }] },
    /^error ENVIRONMENT_NOT_FOUND: \S+tiny\.yaml:\d+:\d+: .*"math@1"\. Did you mean "math@2"\?\n.*math@2 replaces math@1\. .*form: equivalent/m,
  ],
  [
    "a model directory that is not there",
    { ...REMOTE, engine: {}, model: { path: "no-such-model" } },
    /^error MODEL_DIRECTORY_MISSING: .*no-such-model/m,
  ],
  [
    "a key that is not known",
    { ...REMOTE, smapling: {} },
    /^error CONFIG_INVALID: \S+tiny\.yaml:\d+:\d+: unknown key "smapling"\. Did you mean "sampling"\?$/m,
  ],
  [
    "an option that an algorithm does not have",
    { ...REMOTE, stages: [{ ...TINY.stages[1], gruop_size: 8 }] },
    /^error CONFIG_INVALID: \S+:\d+:\d+: unknown key "gruop_size"\. Did you mean "group_size"\?/m,
  ],
  [
    "groups of one",
    { ...REMOTE, stages: [{ ...TINY.stages[1], group_size: 1 }] },
    /^error CONFIG_INVALID: \S+:\d+:\d+: group_size is 1/m,
  ],
  [
    "an algorithm that is not there",
    { ...REMOTE, stages: [{ algorithm: "gppo" }] },
    /^error PLUGIN_NOT_FOUND: .*Did you mean "grpo"\?/m,
  ],
])("%s is reported before training begins, with exit code 2", async (_, config, message) => {
  // The engine's interpreter is given, so that these do not depend on whether it is installed.
  const { code, stderr } = await train(config, { MRLM_ENGINE_PYTHON: fakePython(directory, "3.12") });
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});

test("players that do not exist are reported before the environment server is started", async () => {
  const environments = [{ ...TINY.environments[0], players: { agnt: "policy", agent: { scripted: "random" } } }];
  const { code, stderr } = await train(
    { ...REMOTE, server: { spawn: true }, environments },
    { MRLM_ENGINE_PYTHON: fakePython(directory, "3.12") },
  );
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(
      /^error CONFIG_INVALID: \S+:\d+:\d+: .* math@2 has no role "agnt"\. Did you mean "agent"\?\n\S+:\d+:\d+: .* math@2 has no scripted policy "random"/m,
    ),
  ]);
  expect(stderr).not.toContain("starting");
});

// A server is started with the program of its parent: that is `mrlm` in a process of its own only.
test.each([
  [{}, runHere],
  [{ spawn: true }, run],
])(
  "a file that an environment's options name is looked for beside the configuration, with server: %j",
  async (server, start) => {
    writeFileSync(join(directory, "rows.jsonl"), '{"query": "1 + 1"}');
    const environments = [{ id: "math@2", options: { data: { path: "rows.jsonl" } } }];
    const { code, stderr } = await start(trainArguments({ ...REMOTE, server, environments }), {
      MRLM_ENGINE_PYTHON: fakePython(directory, "3.12"),
    });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^error DATA_INVALID: \S+tiny\.yaml:\d+:\d+: \S+mrlm-e2e-\S+rows\.jsonl:1/m),
    ]);
  },
);

test("U5: doctor quotes the error of a run that failed, with exit code 4; so does --json", async () => {
  const output = join(directory, "failed");
  const { code } = await runHere(["train", "--config", writeConfig(directory, REMOTE), "--output", output]);
  const [name = ""] = readdirSync(output);
  const doctor = await runHere(["doctor", join(output, name)]);
  expect([code, doctor.code]).toEqual([1, 4]);
  expect(doctor.stdout).toMatch(/: failed, 0 iterations.*\nproblem: The run failed with ENGINE_\w+: .*127\.0\.0\.1:9/s);
  expect(doctor.stdout).not.toContain("Nothing looks wrong");
  const { stdout } = await runHere(["doctor", "--json", join(output, name)]);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ event: "diagnosis", status: "failed", findings: [{ rule: "run-failed", severity: "problem" }] },
  });
});

test("an engine that is not set up is reported before anything is started, with exit code 3 and the command that sets it up", async () => {
  const { code, stdout, stderr } = await train(TINY, NO_ENGINE);
  expect([code, stdout, stderr]).toEqual([
    3,
    "",
    expect.stringMatching(/^error ENGINE_NOT_SET_UP: .*\n.*mrlm engine setup/),
  ]);
});

test.each([
  ["missing", () => join(directory, "no-python"), /^error PYTHON_NOT_FOUND: /],
  ["too old", () => fakePython(directory, "3.8"), /^error PYTHON_VERSION: .*3\.8/s],
])(
  "engine setup with a Python that is %s names the versions that it takes, with exit code 3",
  async (_, python, message) => {
    const { code, stderr } = await runHere(["engine", "setup"], { ...NO_ENGINE, MRLM_PYTHON: python() });
    expect(stderr).toMatch(message);
    expect([code, stderr]).toEqual([3, expect.stringContaining("Python 3.10 to 3.13")]);
  },
);

test("a file, a run or a command that is not there: exit code 2, and with --json an object on stdout", async () => {
  for (const args of [
    ["train", "--config", "nowhere.yaml"],
    ["train", "--resume", join(directory, "no-run")],
    ["train"],
    ["trian"],
    ["serve", "--port", "seven"],
    ["serve", "--environments", "mth"],
  ]) {
    const { code, stderr } = await runHere(args);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(/^error/)]);
  }
  const misspelt = await runHere(["train", "--json", "--confg", "x"]);
  expect([misspelt.code, misspelt.stderr]).toEqual([
    2,
    expect.stringMatching(/^error USAGE: Unknown option '--confg'\. Did you mean --config\?\n/),
  ]);
  expect(misspelt.events).toEqual([
    {
      event: "error",
      code: "USAGE",
      message: expect.stringContaining("--confg"),
      hint: "See `npx mrlm train --help`.",
    },
  ]);
  expect((await runHere(["train", "run.yaml"])).stderr).toContain("Did you mean --config run.yaml?");
  const { events } = await runHere(["train", "--config", "nowhere.yaml", "--json"]);
  expect(events).toEqual([
    {
      event: "error",
      code: "CONFIG_NOT_FOUND",
      message: expect.stringContaining("nowhere.yaml"),
      hint: expect.any(String),
    },
  ]);
});

test("a plugin that a configuration names by its path is listed by info; the error of one that lacks a package states what to install, and where", async () => {
  const folder = join(directory, "lacking");
  mkdirSync(folder);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({
      name: "lacking",
      version: "1.2.3",
      type: "module",
      mrlm: { apiVersion: 1, entry: "./index.js", provides: ["environment:lacking@1"] },
    }),
  );
  writeFileSync(join(folder, "index.js"), 'import "no-such-package/part"; export default {};');
  const config = writeConfig(directory, { ...TINY, plugins: { [folder]: true } }, "lacking.yaml");
  const [info, serve] = await Promise.all([
    runHere(["info", "--config", config]),
    runHere(["serve", "--config", config, "--environments", "lacking"]),
  ]);
  expect([info.code, info.stdout]).toEqual([0, expect.stringMatching(/^lacking +1\.2\.3 +environment:lacking@1$/m)]);
  expect([serve.code, serve.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^error PLUGIN_LOAD_FAILED: .*no-such-package.*\n  .*`npm install no-such-package` in \S+lacking\./m,
    ),
  ]);
});
