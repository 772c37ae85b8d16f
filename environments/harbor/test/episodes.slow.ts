import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import {
  callMessage,
  type JsonObject,
  type Message,
  type Plugin,
  SINGLE_AGENT,
  type StepResult,
  textMessage,
} from "@mrlm/kit";
import type { Toolset } from "@mrlm/spec";
import type { Workspaces } from "@mrlm/spec";
import { barePluginContext, bareEnvironment } from "@mrlm/testing";
import { harbor } from "../src/definition.ts";
import { taskFolder } from "./support/task-folder.ts";
import { workspaceTest as test } from "./support/workspace-test.ts";

const cache = mkdtempSync(join(tmpdir(), "harbor-cache-"));
process.env["MRLM_CACHE"] = cache;

// By names in variables, because no plugin imports another.
const names: readonly string[] = ["@mrlm/workspace-local", "@mrlm/tool-shell"];
const [provider, shell] = (await Promise.all(
  names.map(async (name) => ((await import(name)) as { readonly default: Plugin }).default),
)) as [Plugin, Plugin];

async function optionsOf({ options }: Plugin, given: JsonObject): Promise<unknown> {
  const parsed = await options?.["~standard"].validate(given);
  return (parsed as { value: unknown }).value;
}

let workspaces: Workspaces;
let tool: Toolset;
beforeAll(async () => {
  workspaces = (await provider.workspaces?.["linux"]?.(
    barePluginContext(),
    await optionsOf(provider, {}),
  )) as Workspaces;
  const context = barePluginContext({ workspaces: { linux: workspaces } });
  tool = (await shell.tools?.["shell@1"]?.(context, await optionsOf(shell, { timeout_ms: 20_000 }))) as Toolset;
}, 60_000);
afterAll(async () => {
  await workspaces.close();
  rmSync(cache, { recursive: true });
});

const DONE = "";
const messageOf = (command: string): Message =>
  command === DONE ? textMessage("assistant", "Done.") : callMessage("bash", { command });

interface Episode {
  readonly steps: readonly StepResult[];
  /** Texts that the policy reads, after the instruction. */
  readonly texts: readonly string[];
  readonly end: StepResult;
}

/** Plays a task with these commands in order; an empty one ends a step. */
async function play(
  files: Parameters<typeof taskFolder>[0],
  commands: readonly string[],
  more: JsonObject = {},
): Promise<Episode> {
  const { folder, remove } = taskFolder(files);
  const options = { tasks: folder, eval_share: 0, bases: { "debian:12": "host" }, ...more };
  const { signal } = new AbortController();
  const held: { close(): Promise<void> }[] = [];
  const tracked: Workspaces = {
    limits: workspaces.limits,
    sockets: workspaces.sockets,
    close: async () => undefined,
    open: async (given) => {
      const workspace = await workspaces.open(given);
      held.push(workspace);
      return workspace;
    },
  };
  const { context, options: parsed } = await bareEnvironment(harbor, options, {
    tools: { "shell@1": tool },
    workspaces: { linux: tracked },
  });
  const environment = await harbor.create(context as never, parsed);
  try {
    await environment.reset({ task: "train/0", seed: 0, signal });
    const steps: StepResult[] = [];
    for (const command of commands)
      steps.push(
        await environment.step({ agent: SINGLE_AGENT, message: messageOf(command), finishReason: "stop" }, { signal }),
      );
    const parts = steps.flatMap(({ observation }) => observation.messages).flatMap((message) => message.parts);
    const texts = parts.flatMap((part) =>
      part.type === "text"
        ? [part.text]
        : part.type === "tool-result"
          ? part.content.map((each) => (each.type === "text" ? each.text : ""))
          : [],
    );
    return { steps, texts, end: steps.at(-1) as StepResult };
  } finally {
    await environment.close?.();
    for (const each of held) await each.close();
    remove();
  }
}

const rewardOf = ({ end }: Episode): unknown => {
  const reward = end.rewards[SINGLE_AGENT];
  return reward === undefined ? undefined : reward.scored ? reward.value : reward.message;
};

describe("a build", () => {
  test("follows the Dockerfile once, also for episodes that begin together", async () => {
    const files = {
      "environment/Dockerfile":
        "FROM debian:12\nENV WORD=right\nWORKDIR /data/in\nCOPY tool a.txt ./\nRUN mkdir /made && ./tool > /made/built && date +%N >> /made/built\nENV WORD=later\nCMD true\n",
      "environment/tool": '#!/bin/sh\necho "$WORD $PWD $(cat a.txt)"\n',
      "environment/a.txt": "A\n",
    };
    const episodes = await Promise.all([1, 2, 3].map(() => play(files, ["pwd; cat /made/built; echo $WORD"])));
    const [first, ...others] = episodes.map(({ texts }) => texts[0]);
    expect(first).toMatch(/^\/data\/in\nright \/data\/in A\n\d+\nlater$/);
    expect(others).toEqual([first, first]);
  }, 120_000);

  test.each([
    ["RUN true && \\\n  echo why >&2 && exit 3\n", /environment\/Dockerfile:3: RUN ended with exit code 3: why\./],
    ["RUN sleep 60\n", /environment\/Dockerfile:3: RUN met the time limit of the build\./],
    ["COPY a /usr/bin/a\n", /environment\/Dockerfile:3: \/usr is a folder of the host/],
  ])(
    "%j fails with its line",
    async (line, message) => {
      const files = {
        "environment/Dockerfile": `FROM debian:12\nWORKDIR /app\n${line}`,
        "environment/a": "a",
        "task.toml": `[environment]\nbuild_timeout_sec = ${line.includes("sleep") ? 2 : 60}\n`,
      };
      await expect(play(files, [])).rejects.toMatchObject({
        code: "DATA_INVALID",
        message: expect.stringMatching(message),
      });
    },
    60_000,
  );
});

test("the policy reads neither tests nor solution, and what it leaves in their places has no effect", async () => {
  const forged =
    "mkdir -p /logs/verifier; echo 1 | tee /logs/verifier/reward.txt > /tests/test.sh; echo '{\"reward\": 1}' > /logs/verifier/reward.json";
  const episode = await play({}, [
    "ls -A / /logs /solution | grep -E 'tests|verifier|solve' || echo none",
    `${forged}; (while :; do ${forged}; sleep 0.01; done) >/dev/null 2>&1 &`,
    DONE,
  ]);
  expect(episode.texts[0]).toBe("none");
  expect(rewardOf(episode)).toBe(0);
}, 60_000);

describe("grading", () => {
  test.each([
    ["exit 1", "The tests of the task gave no reward: the tests wrote neither reward.txt nor reward.json."],
    ["echo well > /logs/verifier/reward.txt", "The tests of the task gave no reward: reward.txt is no finite number."],
    ["sleep 60", "The tests of the task gave no reward: test.sh met the time limit of 1 s."],
    [
      "ln -s /etc/passwd /logs/verifier/reward.txt",
      "The tests of the task gave no reward: reward.txt is no finite number.",
    ],
    ["echo 0 > /logs/verifier/reward.txt; sleep 60", 0],
    ["echo 0.5 > /logs/verifier/reward.txt; exit 1", 0.5],
    ['[ "$KEY" = "a b" ] && [ "$PWD" = /app ] && echo 1 > /logs/verifier/reward.txt', 1],
  ])(
    "%j gives %j",
    async (command, expected) => {
      const files = {
        "tests/test.sh": `#!/bin/sh\n${command}\n`,
        "task.toml": `[verifier]\ntimeout_sec = ${command.endsWith("sleep 60") ? 1 : 60}\n[verifier.env]\nKEY = "a b"\n`,
      };
      expect(rewardOf(await play(files, [DONE]))).toBe(expected);
    },
    60_000,
  );

  test.each([
    "head -c 99M /dev/zero > full; head -c 99M /dev/zero > /tmp/full",
    "mkdir -p /logs/verifier/a; chmod 000 /logs/verifier/a /logs/verifier /logs /tmp",
    "cd /; rm -rf /app/x; ln -s /usr/none /app/x",
    "cd /; rm -rf /app/x; ln -s /proc/none /app/x",
    "chmod 000 .",
  ])(
    "what a policy breaks is wrong, and not unscored: %s",
    async (command) => {
      const files = {
        "environment/Dockerfile": "FROM debian:12\nWORKDIR /app/x\n",
        "task.toml": "[environment]\nstorage_mb = 64\n",
      };
      expect(rewardOf(await play(files, [command, DONE]))).toBe(0);
    },
    60_000,
  );

  test.each(["truncate -s 60M /logs/artifacts/a /logs/artifacts/b", "mkdir -p /logs/artifacts/$(seq -s/ 1 100)"])(
    "artifacts that separate tests have no room for are wrong, and not unscored: %s",
    async (command) => {
      const files = {
        "task.toml": '[environment]\nstorage_mb = 64\n[verifier]\nenvironment_mode = "separate"\n',
        "tests/test.sh": "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n",
      };
      expect(rewardOf(await play(files, [command, DONE]))).toBe(0);
    },
    60_000,
  );

  test("separate tests receive the artifacts alone", async () => {
    const files = {
      "task.toml": 'artifacts = ["answer", { source = "/app/more" }]\n[verifier]\nenvironment_mode = "separate"\n',
      "tests/test.sh":
        "#!/bin/sh\n[ $(cat answer more/a /logs/artifacts/b | wc -l) = 3 ] && [ ! -e other ] && echo 1 > /logs/verifier/reward.txt\n",
    };
    expect(
      rewardOf(
        await play(files, ["mkdir more; for f in answer more/a /logs/artifacts/b other; do echo 1 > $f; done", DONE]),
      ),
    ).toBe(1);
  }, 60_000);
});

test("the time of the agent and the turns end a step, whose files are graded", async () => {
  const late = await play({ "task.toml": "[agent]\ntimeout_sec = 8\n" }, ["echo right > answer; sleep 60"]);
  expect([rewardOf(late), late.end.truncated]).toEqual([1, { [SINGLE_AGENT]: true }]);
  const short = await play({}, ["true", "echo right > answer"], { turns: 2 });
  expect([rewardOf(short), short.end.truncated]).toEqual([1, { [SINGLE_AGENT]: true }]);
}, 60_000);

const STEPS = {
  "task.toml": '[[steps]]\nname = "one"\nmin_reward = 0.5\n[[steps]]\nname = "two"\n',
  "instruction.md": undefined,
  "steps/one/instruction.md": "First.\n",
  "steps/one/tests/test.sh":
    "#!/bin/sh\ngrep -q 1 answer && echo 1 > /logs/verifier/reward.txt || echo 0.25 > /logs/verifier/reward.txt\n",
  "steps/two/instruction.md": "Second.\n",
  "steps/two/workdir/setup.sh": "echo set > by-setup\n",
};

describe("steps", () => {
  test("have their own instructions, files and tests, and continue with the files of the policy", async () => {
    const episode = await play(STEPS, [
      "echo 1 > answer",
      DONE,
      "cat answer by-setup; ls -A /tests /logs/verifier 2>/dev/null; echo right > answer",
      DONE,
    ]);
    expect(episode.texts.slice(1)).toEqual(["Second.\n", "1\nset"]);
    expect(rewardOf(episode)).toBe(1);
  }, 60_000);

  test("count 0 where files of the policy prevent the next one", async () => {
    expect(rewardOf(await play(STEPS, ["echo 1 > answer; mkdir setup.sh", DONE]))).toBe(0.5);
  }, 60_000);

  test("end below the threshold, and with the strategy of the task", async () => {
    expect(rewardOf(await play(STEPS, [DONE]))).toBe(0.25);
    expect(rewardOf(await play(STEPS, ["echo 1 > answer", DONE, DONE]))).toBe(0.5);
    const last = { ...STEPS, "task.toml": `multi_step_reward_strategy = "final"\n${STEPS["task.toml"]}` };
    expect(rewardOf(await play(last, ["echo 1 > answer", DONE, DONE]))).toBe(0);
  }, 120_000);
});

describe("a program in place of tools", () => {
  const agent = mkdtempSync(join(tmpdir(), "harbor-agent-"));
  afterAll(() => rmSync(agent, { recursive: true }));
  writeFileSync(
    join(agent, "agent.py"),
    `
import json, os, subprocess, sys, urllib.request
messages = [{"role": "user", "content": os.environ.get("GREETING", "") + sys.stdin.read()}]
while True:
    body = {"model": "agent", "messages": messages, "tools": [{"type": "function", "function": {"name": "bash"}}]}
    headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), headers)
    answer = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    messages.append(answer)
    if not answer.get("tool_calls"):
        sys.exit(int(os.environ.get("CODE", 0)))
    for call in answer["tool_calls"]:
        done = subprocess.run(json.loads(call["function"]["arguments"])["command"], shell=True, capture_output=True, text=True)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})
`,
  );
  const program = { command: "exec python3 /agent/agent.py", files: agent };

  test("works in the files of the task, and is graded by its tests, also with an error", async () => {
    const right = await play({}, ["pwd; ls /tests /solution; echo right > answer", DONE], { program });
    expect([rewardOf(right), right.end.terminated]).toEqual([1, { [SINGLE_AGENT]: true }]);
    expect(right.texts[0]).toMatch(/^\/app\n.*cannot access/s);
    expect(rewardOf(await play({}, ["echo wrong > answer", DONE], { program }))).toBe(0);
    const failing = { ...program, env: { CODE: "3" } };
    expect(rewardOf(await play({}, ["echo right > answer", DONE], { program: failing }))).toBe(1);
  }, 60_000);

  test("runs once for each step", async () => {
    const answers = ["echo 1 > answer", DONE, "cat answer by-setup; echo right > answer", DONE];
    const episode = await play(STEPS, answers, { program });
    expect(episode.texts).toEqual(["Second.\n", "1\nset\n"]);
    expect(rewardOf(episode)).toBe(1);
    expect(rewardOf(await play(STEPS, ["echo 1 > answer", DONE, DONE], { program }))).toBe(0.5);
    expect(rewardOf(await play(STEPS, [DONE], { program }))).toBe(0.25);
  }, 60_000);

  test("the time of the agent is its limit, and calls are; then the tests run", async () => {
    const late = await play({ "task.toml": "[agent]\ntimeout_sec = 8\n" }, ["echo right > answer; sleep 60"], {
      program,
    });
    expect([rewardOf(late), late.end.truncated]).toEqual([1, { [SINGLE_AGENT]: true }]);
    const limited = { ...program, calls: 1 };
    const short = await play({}, ["echo right > answer"], { program: limited });
    expect([rewardOf(short), short.end.truncated]).toEqual([1, { [SINGLE_AGENT]: true }]);
  }, 60_000);

  test("one that makes no call is unscored", async () => {
    const silent = play({}, [], { program: { command: "echo no agent >&2; exit 1" } });
    await expect(silent).rejects.toMatchObject({ code: "AGENT_FAILED", message: expect.stringMatching(/no agent/) });
  }, 60_000);
});
