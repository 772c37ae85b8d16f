import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import environmentTools from "@mrlm/environment-tools";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import scorerMath from "@mrlm/scorer-math";
import type { Observation, Part, StepResult } from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import toolMcp from "@mrlm/tool-mcp";

const script = join(
  dirname(createRequire(import.meta.url).resolve("@mrlm/tool-mcp/package.json")),
  "test/support/scripted-server.mjs",
);
const { signal } = new AbortController();
let folder: string;
let plugins: PluginHost;
let session: EnvironmentSession;

/** Opens an environment whose tools are those of the scripted server. */
async function open(...flags: readonly string[]): Promise<EnvironmentSession> {
  plugins = await PluginHost.of([environmentTools, toolMcp, scorerMath], {
    plugins: {
      "@mrlm/tool-mcp": {
        mcpServers: { s: { command: process.execPath, args: [script, ...flags], cwd: "${MRLM_EPISODE_DIR}" } },
        servers: { s: { timeout_ms: 1000, max_timeout_ms: 20_000 } },
      },
    },
  });
  const options = { toolsets: ["mcp@1"], data: { path: join(folder, "tasks.jsonl"), eval_share: 0 }, turns: 8 };
  return new LocalHost({ source: plugins }).open({ id: "tools@2", options });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mcp-e2e-"));
  const row = { question: "Which number?", answer: "7", files: { "a.txt": "7" } };
  writeFileSync(join(folder, "tasks.jsonl"), `${JSON.stringify(row)}\n`.repeat(2));
});

afterEach(() => plugins.close());
afterAll(() => rmSync(folder, { recursive: true }));

/** Takes a turn with calls of tools, all at once. */
function act(...calls: readonly [name: string, args: object][]): Promise<StepResult> {
  const parts = calls.map(
    ([name, args], i) => ({ type: "tool-call", id: `c${i}`, name: `s__${name}`, arguments: args }) as Part,
  );
  return session.step({ agent: "agent", message: { role: "assistant", parts }, finishReason: "stop" }, { signal });
}

/** Returns the results of calls, as text after `!` for an error. */
function resultsOf({ observation }: StepResult): string[] {
  const parts = observation.messages.flatMap((message) => message.parts);
  return parts.flatMap((part) =>
    part.type !== "tool-result"
      ? []
      : `${part.isError ? "!" : ""}${part.content.map((each) => (each.type === "text" ? each.text : each.type)).join("")}`,
  );
}

const namesOf = ({ tools = [] }: Observation): string[] => tools.map(({ name }) => name);

test("an episode with an MCP server: calls at once, a timeout, progress, new tools, and a server that ends", async () => {
  session = await open();
  expect(session.description.determinism).toBe("none");
  const first = await session.reset({ signal });
  expect(namesOf(first)).toContain("s__echo");
  const answers = await act(["echo", { x: 1 }], ["hang", {}], ["keep", {}], ["advance", { times: 4, ms: 400 }]);
  expect(resultsOf(answers)).toEqual([
    '{"x":1}',
    "!s__hang took longer than 1 s and was stopped.",
    expect.stringContaining("!Invalid arguments of s__keep: "),
    "arrived",
  ]);
  const grown = await act(["grow", {}]);
  expect(namesOf(grown.observation)).toContain("s__grown_1");
  expect(resultsOf(await act(["grown_1", {}]))).toEqual(["grown_1 called"]);
  const ended = await act(["die", {}]);
  expect(ended.rewards["agent"]).toMatchObject({
    code: "TOOL_FAILED",
    message: expect.stringContaining("ended with code 3"),
  });
  await session.close();
});

test("a server with two tools of one name is refused when the environment is prepared", async () => {
  await expect(open("--twins")).rejects.toMatchObject({
    code: "TOOL_FAILED",
    message: expect.stringContaining('it lists two tools with the name "echo"'),
  });
});
