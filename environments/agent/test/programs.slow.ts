import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { callMessage } from "@mrlm/kit";
import type { Workspaces } from "@mrlm/spec";
import { build } from "tsup";
import { openWorkspaces, play, PYTHON, textsOf } from "./support/play.ts";
import { workspaceTest as test } from "./support/workspace-test.ts";

let workspaces: Workspaces;
beforeAll(async () => void (workspaces = await openWorkspaces()), 60_000);
afterAll(() => workspaces.close());

const answers =
  (...texts: readonly string[]) =>
  (_: unknown, turn: number): string =>
    texts[turn] ?? "more";

/** Returns a module with all that it imports. */
async function bundled(source: string): Promise<string> {
  const folder = mkdtempSync(join(import.meta.dirname, "bundle-"));
  try {
    writeFileSync(join(folder, "in.mjs"), source);
    const quiet = { silent: true, config: false, dts: false, clean: false } as const;
    await build({ entry: { out: join(folder, "in.mjs") }, outDir: folder, format: "esm", noExternal: [/./], ...quiet });
    return readFileSync(join(folder, "out.js"), "utf8");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a program in Python calls the model by urllib alone, and its output is graded", async () => {
  const files = { "agent.py": `${PYTHON}\nask(sys.stdin.read())\nprint(ask("again"))` };
  const right = await play(workspaces, { files, policy: answers("one", "right") });
  expect(textsOf(right)).toEqual(["Do it.", "again"]);
  expect(right.reward).toBe(1);
  expect((await play(workspaces, { files, policy: answers("right", "one") })).reward).toBe(0);
});

test("a program in Python calls the model by Anthropic's Messages", async () => {
  const program = `
import json, os, urllib.request
headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01", "content-type": "application/json"}
body = {"model": "claude", "max_tokens": 20, "messages": [{"role": "user", "content": "hello"}]}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(), headers)
print(json.load(urllib.request.urlopen(request))["content"][0]["text"])`;
  const played = await play(workspaces, { files: { "agent.py": program }, policy: answers("right") });
  expect([textsOf(played), played.reward]).toEqual([["hello"], 1]);
});

test("a program in Node calls the model by the package `openai`, with tools and a stream", async () => {
  const source = `
import { execSync } from "node:child_process";
import OpenAI from "openai";
const client = new OpenAI();
const messages = [{ role: "user", content: "list" }];
const tools = [{ type: "function", function: { name: "bash", parameters: { type: "object", properties: { command: { type: "string" } } } } }];
const { choices: [{ message }] } = await client.chat.completions.create({ model: "agent", messages, tools });
const [call] = message.tool_calls;
const content = execSync(JSON.parse(call.function.arguments).command).toString();
messages.push(message, { role: "tool", tool_call_id: call.id, content });
let text = "";
for await (const { choices } of await client.chat.completions.create({ model: "agent", messages, tools, stream: true }))
  text += choices[0]?.delta.content ?? "";
console.log(text);`;
  const files = { "agent.mjs": await bundled(source) };
  const played = await play(workspaces, {
    files,
    options: { command: "exec node agent.mjs" },
    policy: ({ messages }, turn) => {
      if (turn === 0) return callMessage("bash", { command: "ls" });
      return JSON.stringify(messages).includes("agent.mjs") ? "right" : "wrong";
    },
  });
  expect(played.observations.map(({ agent }) => agent)).toEqual(["agent#1", "agent#1"]);
  expect(played.reward).toBe(1);
});

test("curl calls the model by the address, and by the socket without an interpreter", async () => {
  const body = '{"model": "agent", "messages": [{"role": "user", "content": "hello"}]}';
  const curl = `curl -sS --fail-with-body -H "authorization: Bearer $OPENAI_API_KEY" -H "content-type: application/json" -d '${body}' "$OPENAI_BASE_URL/chat/completions"`;
  for (const [address, more] of [
    ["http", ""],
    ["socket", "--unix-socket /mrlm/socket"],
  ] as const) {
    const played = await play(workspaces, {
      options: {
        address,
        command: `${curl} ${more}`,
        score: { command: 'grep -q "$(cat "$SCORE/answer")" "$SCORE/output"' },
      },
      policy: answers("right"),
    });
    expect([textsOf(played), played.reward]).toEqual([["hello"], 1]);
  }
});

test("a base without python3 has the address by node; one without both is refused", async () => {
  const files = { "agent.py": `${PYTHON}\nprint(ask("x" * 3_000_000)[:5])` };
  const command = "exec /usr/bin/python3 agent.py";
  const score = { command: '/usr/bin/grep -qx right "$SCORE/output"' };
  const env = { PATH: "/workspace/bin" };
  const setup = "/bin/mkdir bin && /bin/ln -s /usr/bin/node bin/node";
  const options = { command, score, env };
  const played = await play(workspaces, { files, options: { ...options, setup }, policy: answers("right") });
  expect(played.reward).toBe(1);
  await expect(play(workspaces, { files, options })).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
});
