import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type JsonObject, type Message, type Part } from "@mrlm/kit";
import { parse } from "yaml";
import { ROOT } from "../e2e/support/mrlm.ts";
import { clientPackages } from "./support/client-packages.ts";
import { playAgent, type PlayedAgent, playEpisode, REPAIR, RIGHT, WRONG } from "./support/play-agent.ts";
import { missingJail } from "../../plugins/workspace-local/test/support/missing-jail.ts";

/** Coding agent of npm, as its users start it. */
interface CliAgent {
  readonly package: string;
  /** Options of `agent@1`. */
  readonly options: JsonObject;
  /** Calls that run a command, and that replace the file by its tools. */
  run(command: string): Part;
  readonly edits: readonly Part[];
}

const call = (name: string, given: JsonObject): Part => ({
  type: "tool-call",
  id: "",
  name,
  arguments: given,
});
const FILE = "/workspace/median.py";
// The interpreter of the packages. That of the host may be another version, or outside of its system folders.
const PATH = "/agents/node_modules/.bin:/node/bin:/usr/local/bin:/usr/bin:/bin";

function pi(api: string, baseUrl = "http://127.0.0.1:61000/v1"): CliAgent {
  const provider = { baseUrl, api, apiKey: "OPENAI_API_KEY", models: [{ id: "agent" }] };
  return {
    package: "@mariozechner/pi-coding-agent@0.73.1",
    options: {
      setup: `mkdir -p ~/.pi/agent && echo '${JSON.stringify({ providers: { mrlm: provider } })}' > ~/.pi/agent/models.json`,
      command: 'exec pi --offline --print --provider mrlm --model agent "$(cat)"',
      env: { PATH },
    },
    run: (command) => call("bash", { command }),
    edits: [call("edit", { path: FILE, edits: [{ oldText: WRONG, newText: RIGHT }] })],
  };
}

/** Without titles, which are calls of their own. */
const OPENCODE = {
  provider: {
    mrlm: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: "http://127.0.0.1:61000/v1", apiKey: "{env:OPENAI_API_KEY}" },
      models: { agent: { reasoning: true } },
    },
  },
  ...{ model: "mrlm/agent", autoupdate: false, share: "disabled", permission: "allow" },
  agent: { title: { disable: true } },
};

const AGENTS: Readonly<Record<string, CliAgent>> = {
  pi: pi("openai-completions"),
  codex: {
    package: "@openai/codex@0.171.0",
    options: {
      command:
        "exec codex exec --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check --model agent -c web_search=disabled -c analytics.enabled=false -c model_provider=mrlm " +
        `-c 'model_providers.mrlm={ name = "mrlm", base_url = "'$OPENAI_BASE_URL'", env_key = "OPENAI_API_KEY", wire_api = "responses" }' -`,
      env: { PATH },
    },
    run: (cmd) => call("exec_command", { cmd }),
    edits: [call("exec_command", { cmd: `apply_patch <<'X'\n${patch()}\nX` })],
  },
  opencode: {
    package: `opencode-linux-${process.arch}@1.18.33`,
    options: {
      setup: `echo '${JSON.stringify(OPENCODE)}' > ~/opencode.json`,
      command: `exec /agents/node_modules/opencode-linux-${process.arch}/bin/opencode run "$(cat)"`,
      env: { OPENCODE_CONFIG: "/root/opencode.json", OPENCODE_DISABLE_MODELS_FETCH: "1" },
      workspace: { memory_mb: 4096 },
    },
    run: (command) => call("bash", { command, description: "Runs it" }),
    edits: [
      call("read", { filePath: FILE }),
      call("edit", { filePath: FILE, oldString: WRONG.trim(), newString: RIGHT.trim() }),
    ],
  },
  "claude-code": {
    package: "@anthropic-ai/claude-code@2.1.332",
    options: {
      // The binary of the platform: its link is made by the script of the package, which is not run.
      command: `exec /agents/node_modules/@anthropic-ai/claude-code-linux-${process.arch}/claude --print --model agent --dangerously-skip-permissions`,
      env: { IS_SANDBOX: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
      workspace: { memory_mb: 4096 },
    },
    run: (command) => call("Bash", { command }),
    edits: [
      call("Read", { file_path: FILE }),
      call("Edit", { file_path: FILE, old_string: WRONG.trim(), new_string: RIGHT.trim() }),
    ],
  },
};

function patch(): string {
  const lines = (text: string, mark: string): string => text.trim().replaceAll(/^/gm, mark);
  return `*** Begin Patch\n*** Update File: ${FILE}\n@@\n${lines(WRONG, "-")}\n${lines(RIGHT, "+")}\n*** End Patch`;
}

const assistant = (...parts: readonly Part[]): Message => ({ role: "assistant", parts });
/** Ids are unique in an episode. */
const withIds = ({ parts }: Message, turn: number): Message =>
  assistant(...parts.map((part, i) => (part.type === "tool-call" ? { ...part, id: `call${turn}${i}` } : part)));
const text = (value: string): Part => ({ type: "text", text: value });
const thinking: Part = { type: "thinking", text: "Hm." };

const answersOf = ({ run }: CliAgent): readonly Message[] => [
  assistant(thinking, text("I look."), run("ls")),
  assistant(thinking, run(REPAIR)),
];

/** Registers the tests of an agent, or one that is skipped with the reason. */
async function testAgent(
  name: string,
  { package: wanted }: CliAgent,
  body: (
    play: (agent: CliAgent, answers: readonly Message[]) => Promise<PlayedAgent>,
    folders: Readonly<Record<string, string>>,
  ) => void,
): Promise<void> {
  const found = missingJail === undefined ? await clientPackages([wanted]) : { reason: missingJail };
  if ("reason" in found) return test.skip(`${name} (${found.reason})`, () => undefined);
  const folders = { "/agents": found.folder, "/node": dirname(dirname(process.execPath)) };
  describe(name, () => {
    body(
      ({ options }, answers) =>
        playAgent(options, folders, (_, turn) => withIds(answers[turn] ?? assistant(text("Done.")), turn)),
      folders,
    );
  });
}

for (const [name, agent] of Object.entries(AGENTS))
  await testAgent(name, agent, (play) => {
    test("repairs a repository by commands; its conversation continues, with the reasoning", async () => {
      const { observations, rewards, counts } = await play(agent, answersOf(agent));
      const seen = observations.map(({ messages }) => JSON.stringify(messages));
      expect(seen).toEqual(
        ["Repair median.py", "test_median.py", "passed"].map((each) => expect.stringContaining(each)),
      );
      expect(rewards).toEqual([1]);
      expect(counts).toMatchObject({ calls: 3, segments: 1, refused: 0, wasted: [] });
    });

    test("repairs it by its tools for files", async () => {
      const { rewards } = await play(
        agent,
        agent.edits.map((each) => assistant(each)),
      );
      expect(rewards).toEqual([1]);
    });

    test("earns nothing by an answer alone", async () => {
      const { rewards, observations, last } = await play(agent, []);
      expect([rewards, observations.length, last.terminated]).toEqual([[0], 1, { "agent#1": true }]);
    });
  });

const wires = [
  pi("openai-completions"),
  pi("openai-responses"),
  // Its client of Anthropic adds the version itself.
  pi("anthropic-messages", "http://127.0.0.1:61000"),
] as const;

await testAgent("pi by three APIs", wires[0], (play) =>
  test("has the same conversation", async () => {
    const played = [];
    for (const agent of wires) played.push(await play(agent, answersOf(agent)));
    const [first, ...others] = played.map(({ observations }) =>
      observations.map(({ agent, messages, tools, isFresh }) => ({
        ...{ agent, messages, isFresh },
        // Their schemas are not the same in pi.
        tools: tools?.map(({ name }) => name),
      })),
    );
    for (const each of others) expect(each).toEqual(first);
    expect(played.map(({ rewards }) => rewards)).toEqual([[1], [1], [1]]);
    expect(played.map(({ observations }) => observations[0]?.info)).toMatchObject(
      ["openai-chat", "openai-responses", "anthropic-messages"].map((wire) => ({ call: { wire } })),
    );
  }),
);

await testAgent("pi by examples/coding-agent", wires[0], (_, folders) =>
  test("solves a task of harbor@1 by the worked solution", async () => {
    const path = (name: string): string => join(ROOT, "examples", name);
    const [example] = parse(readFileSync(path("coding-agent/pi.yaml"), "utf8")).environments;
    const options = {
      ...example.options,
      tasks: path("harbor/tasks/failing-unit-test"),
      eval_share: 0,
      program: { ...example.options.program, files: path("coding-agent/pi") },
    };
    options.program.env.PATH = PATH;
    const solution = readFileSync(path("harbor/tasks/failing-unit-test/solution/solve.sh"), "utf8");
    const played = [assistant(wires[0].run(solution)), assistant(text("Done."))].map((_, from, answers) =>
      playEpisode({ id: "harbor", options }, folders, (__, turn) => answers[turn + from] ?? assistant(text("Done."))),
    );
    expect((await Promise.all(played)).map(({ rewards }) => rewards)).toEqual([[1], [0]]);
  }),
);
