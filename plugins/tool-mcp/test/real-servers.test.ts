import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { OpenToolset } from "@mrlm/kit";
import type { McpToolset } from "../src/toolset.ts";
import { marked, serverProcesses } from "./support/processes.ts";
import { call, episode, textOf, toolset } from "./support/toolset.ts";

/** Returns the module that the command of a server package runs. */
function program(name: string): string {
  const path = createRequire(import.meta.url).resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return join(dirname(path), "dist", "index.js");
}

const stdio = (name: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => ({
  command: process.execPath,
  args: [program(name), ...args],
  env: { ...marked, ...env },
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the server `everything` over HTTP and waits until it listens. */
async function httpServer(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const port = await freePort();
  const child = spawn(process.execPath, [program("everything"), "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve) => {
    child.stderr?.on("data", (chunk: Buffer) => chunk.includes("listening") && resolve());
  });
  return { child, url: `http://127.0.0.1:${port}/mcp` };
}

describe("server-everything", () => {
  let tools: McpToolset;
  let opened: OpenToolset;
  let http: Awaited<ReturnType<typeof httpServer>>;

  beforeAll(async () => {
    process.env["EVERYTHING_KEY"] = "a-key-of-everything";
    http = await httpServer();
    tools = await toolset({
      mcpServers: {
        stdio: stdio("everything", ["stdio"], { KEY: "${EVERYTHING_KEY}" }),
        http: { type: "http", url: http.url, headers: { "X-Key": "${EVERYTHING_KEY}" } },
      },
    });
    opened = await episode(tools);
  });

  afterAll(async () => {
    await opened.close();
    await tools.close();
    http.child.kill();
    delete process.env["EVERYTHING_KEY"];
    expect(serverProcesses()).toEqual([]);
  });

  test.each(["stdio", "http"])("%s: text, images, resources and structured content", async (name) => {
    expect(textOf(await call(opened, `${name}__echo`, { message: "hi" }))).toBe("Echo: hi");
    expect(textOf(await call(opened, `${name}__get-tiny-image`))).toContain("[image/png]");
    const weather = await call(opened, `${name}__get-structured-content`, { location: "Chicago" });
    expect(JSON.parse(textOf(weather))).toMatchObject({ conditions: expect.any(String) });
    expect(textOf(await call(opened, `${name}__get-resource-links`, { count: 2 }))).toContain("[Resource ");
  });

  test.each(["stdio", "http"])(
    "%s: arguments that the server refuses are a result that the policy reads",
    async (name) => {
      const refused = await call(opened, `${name}__get-sum`, { a: "one", b: 2 });
      expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("expected number")]);
    },
  );

  test.each(["stdio", "http"])("%s: progress of a long call", async (name) => {
    let reports = 0;
    const options = { progressed: () => void reports++ };
    const done = await call(opened, `${name}__trigger-long-running-operation`, { duration: 0.2, steps: 4 }, options);
    expect(textOf(done)).toContain("completed");
    expect(reports).toBeGreaterThan(0);
  });

  test("a secret in the server's variables is hidden where the server shows them", async () => {
    const shown = textOf(await call(opened, "stdio__get-env"));
    expect(shown).toContain('"KEY": "[EVERYTHING_KEY]"');
    expect(shown).not.toContain("a-key-of-everything");
  });
});

/** Returns the folder that a server-filesystem allows. */
async function folderOf(of: OpenToolset): Promise<string> {
  const lines = textOf(await call(of, "files__list_allowed_directories")).split("\n");
  return lines.find((line) => line.startsWith("/")) ?? "";
}

test("server-filesystem and server-memory have the files of the task and the graph of one episode, and no other's", async () => {
  const tools = await toolset({
    mcpServers: {
      files: stdio("filesystem", ["${MRLM_EPISODE_DIR}"]),
      memory: stdio("memory", [], { MEMORY_FILE_PATH: "${MRLM_EPISODE_DIR}/memory.jsonl" }),
    },
  });
  const [one, other] = await Promise.all([
    episode(tools, { "notes/a.txt": "a note" }),
    episode(tools, { "c.txt": "y" }),
  ]);
  const [path, otherPath] = [await folderOf(one), await folderOf(other)];
  expect(textOf(await call(one, "files__read_text_file", { path: `${path}/notes/a.txt` }))).toBe("a note");
  await call(one, "files__write_file", { path: `${path}/b.txt`, content: "x" });
  expect(textOf(await call(other, "files__list_directory", { path: otherPath }))).toBe("[FILE] c.txt");
  const outside = await call(other, "files__read_text_file", { path: `${path}/b.txt` });
  expect([outside.isError, textOf(outside)]).toEqual([true, expect.stringContaining("Access denied")]);
  const entities = [{ name: "Ada", entityType: "person", observations: ["wrote a program"] }];
  await call(one, "memory__create_entities", { entities });
  expect(textOf(await call(one, "memory__search_nodes", { query: "program" }))).toContain("Ada");
  expect(textOf(await call(other, "memory__read_graph"))).not.toContain("Ada");
  await Promise.all([one.close(), other.close()]);
  expect([existsSync(path), existsSync(otherPath)]).toEqual([false, false]);
  await tools.close();
  expect(serverProcesses()).toEqual([]);
});
