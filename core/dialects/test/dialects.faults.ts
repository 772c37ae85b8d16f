import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { fuzzMessages } from "./support/fuzz-messages.ts";
import { begin, call, INITIALIZE, open, raw } from "./support/raw.ts";
import { connect, served, textOf, until } from "./support/served.ts";

const run = promisify(execFile);
/** Seed of the random choices. FAULTS_SEED repeats a run. */
const SEED = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);

test("5,000 damaged messages get responses of the protocol, and leave the server at work for others", async () => {
  console.log(`FAULTS_SEED=${SEED}`);
  expect(await fuzzMessages(SEED, 5_000)).toBe(5_000);
}, 600_000);

test("1,000 sessions that end in five ways leave no tools, sessions or timers", async () => {
  const server = await served({ leaseMs: 400 });
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const url = server.url();
  let refused = 0;
  const cycle = async (i: number): Promise<void> => {
    const session = await open(url);
    const headers = { "mcp-session-id": session };
    if (i % 5 === 0) await raw(url, { method: "DELETE", headers });
    else if (i % 5 === 1) await call(url, session, "finish", { answer: "1" });
    else if (i % 5 === 2) await call(url, session, "break");
    else if (i % 5 === 3) {
      const lost = begin(url, headers);
      lost.on("error", () => refused++);
      lost.end(JSON.stringify({ ...INITIALIZE, id: i, method: "tools/call", params: { name: "wait", arguments: {} } }));
      await new Promise((resolve) => setTimeout(resolve, 5));
      lost.destroy();
    }
    // The others leave the end to the lease.
  };
  for (let i = 0; i < 1_000; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => cycle(i + k)));
  const release = setInterval(() => server.watch.open(), 20);
  await until(() => server.sessions.stats.sessions === 0 && server.watch.closed === server.watch.opened);
  clearInterval(release);
  expect([server.watch.opened, server.sessions.stats.opened, refused]).toEqual([1_000, 1_000, 200]);
  await until(() => timers() <= before);
  await server.close();
}, 600_000);

test("200 clients play at the same time, each its own task", async () => {
  const server = await served({ revealRewards: true });
  const play = async (task: number): Promise<string> => {
    const { client, end } = await connect(server.url(`/sums@1/mcp?task=train/${task}`));
    let answer = "";
    for (let i = 0; i < 3; i++)
      answer = textOf(await client.callTool({ name: "add", arguments: { a: task, b: task + 1 } }));
    const last = textOf(await client.callTool({ name: "finish", arguments: { answer } }));
    await end();
    return last;
  };
  const ends = await Promise.all(Array.from({ length: 200 }, (_, task) => play(task)));
  expect(new Set(ends)).toEqual(new Set(["The episode has ended. Reward: 0.97."]));
  await server.close();
}, 600_000);

const VERSION = "2.3.0";
const ROOT = join(import.meta.dirname, "../../..");
const ENVIRONMENT = join(ROOT, "node_modules/.cache/mrlm", `python-mcp-${VERSION}`);

/** Returns the Python of a virtual environment with the official client; a text with the reason if it cannot be made. */
async function pythonWithClient(): Promise<{ readonly python: string } | { readonly reason: string }> {
  const python = join(ENVIRONMENT, "bin/python");
  try {
    if (!existsSync(join(ENVIRONMENT, "complete"))) {
      await run("python3", ["-m", "venv", "--clear", ENVIRONMENT]);
      await run(python, ["-m", "pip", "install", "--quiet", `mcp==${VERSION}`]);
      await run("touch", [join(ENVIRONMENT, "complete")]);
    }
    return { python };
  } catch (error) {
    return { reason: error instanceof Error ? error.message.slice(0, 500) : String(error) };
  }
}

test("the official Python client plays episodes (skipped without Python 3.10 or a package index)", async () => {
  const found = await pythonWithClient();
  if ("reason" in found) return console.warn(`Skipped: the package mcp ${VERSION} is not available. ${found.reason}`);
  const server = await served({ revealRewards: true, tokens: Tokens.of("secret") });
  const script = join(import.meta.dirname, "support/mcp_client.py");
  const { stdout } = await run(found.python, [script, String(server.url("/sums@1/mcp")), "secret"]);
  expect(JSON.parse(stdout)).toEqual({
    plays: ["auto", "legacy"].map((mode) => ({
      mode,
      version: "2025-11-25",
      knows_the_task: true,
      tools: ["add", "picture", "refuse", "break", "wait", "long", "grow", "extra", "finish", "observe"],
      added: "41",
      picture: "image/png",
      refused: true,
      end: "The episode has ended. Reward: 0.96.",
      total: { reward: 0.96, components: { correct: 1 } },
      late: true,
    })),
    wrong_task: expect.stringContaining("train/0 to train/999"),
    wrong_token: expect.stringContaining("no valid token"),
    changes: 2,
  });
  await until(() => server.sessions.stats.sessions === 0);
  await server.close();
}, 600_000);
