import { afterEach, describe, expect, test } from "@jest/globals";
import type { ServerTransport } from "../src/connection.ts";
import { GuardedTransport } from "../src/guarded-transport.ts";
import type { McpToolset } from "../src/toolset.ts";
import { serverProcesses, until } from "./support/processes.ts";
import { call, episode, recordingLogger, scripted, textOf, toolset } from "./support/toolset.ts";

let tools: McpToolset | undefined;
afterEach(async () => {
  await tools?.close();
  tools = undefined;
  expect(serverProcesses()).toEqual([]);
});

describe("processes", () => {
  test("a server that ignores SIGTERM, and what it and its command left in other sessions, end with the episode", async () => {
    const server = scripted("--ignore-term", "--child", "--escape");
    const wrapped = { ...server, command: "sh", args: ["-c", '"$@"; true', "sh", server.command, ...server.args] };
    tools = await toolset({ mcpServers: { s: wrapped } });
    const opened = await episode(tools);
    await call(opened, "s__child");
    await call(opened, "s__escape");
    // The shell, the server and its four children.
    expect(await until(() => serverProcesses().length === 6)).toBe(true);
    await opened.close();
    expect(serverProcesses()).toEqual([]);
  });

  test("a server that floods stderr answers, and memory does not grow with it", async () => {
    tools = await toolset({ mcpServers: { s: scripted("--flood") } });
    const opened = await episode(tools);
    for (let i = 1; i <= 20; i++) expect(textOf(await call(opened, "s__count"))).toBe(String(i));
    await opened.close();
  });

  test("at most `starts` servers start at the same time, and an episode that ends while it waits leaves nothing", async () => {
    tools = await toolset({ mcpServers: { s: scripted() }, servers: { s: { processes: 1 } }, starts: 1 });
    const first = await episode(tools);
    const abort = new AbortController();
    const waiting = tools.open({ seed: 1, signal: abort.signal, random: () => undefined as never });
    abort.abort(new Error("given up"));
    await expect(waiting).rejects.toThrow("given up");
    const next = episode(tools);
    await first.close();
    await (await next).close();
  });
});

describe("servers that do not start", () => {
  test.each([
    ["that never answers", ["--silent"], "it was not ready after 0.3 s"],
    ["that ends", ["--broken"], "it ended with code 7; its stderr ends with: cannot start with undefined"],
    ["whose list never ends", ["--endless-pages"], "MCP server s did not start"],
    ["with two tools of one name (U13)", ["--twins"], 'it lists two tools with the name "echo"'],
    ["with a description of 2 MB (U13)", ["--long=echo"], 'the definition of its tool "echo" has 2000'],
    ["with a large schema of results", ["--results=echo"], 'the schema of results of its tool "echo" has 70'],
    ["with 20,000 tools (U13)", ["--many"], "where 1048576 are allowed; choose some by `tools` of the server"],
  ])("a server %s is an error that states why", async (_, flags, message) => {
    const settings = { s: { start_timeout_ms: flags[0] === "--silent" ? 300 : 30_000 } };
    const starting = toolset({ mcpServers: { s: scripted(...flags) }, servers: settings });
    await expect(starting).rejects.toMatchObject({ code: "TOOL_FAILED", message: expect.stringContaining(message) });
    expect(serverProcesses()).toEqual([]);
  });

  test("a command that cannot be run", async () => {
    const starting = toolset({ mcpServers: { s: { command: "./no-such-server" } } });
    await expect(starting).rejects.toThrow('MCP server s did not start: there is no command "./no-such-server"');
  });
});

describe("definitions", () => {
  test("U13: what is in no prompt, such as an icon, is no part of the limit", async () => {
    tools = await toolset({ mcpServers: { s: scripted("--icon=echo") } });
    expect(tools.definitions.map(({ name }) => name)).toContain("s__echo");
  });

  test("U13: tools that are not offered may have any definition", async () => {
    const servers = { s: { tools: ["count"] } };
    tools = await toolset({ mcpServers: { s: scripted("--twins", "--long=echo", "--many") }, servers });
    expect(tools.definitions.map(({ name }) => name)).toEqual(["s__count"]);
  });

  test("U13: a changed list with two tools of one name is reported, and the one before it stays", async () => {
    const logger = recordingLogger();
    tools = await toolset({ mcpServers: { s: scripted() } }, logger);
    const opened = await episode(tools);
    await call(opened, "s__grow");
    expect(opened.tools.map(({ name }) => name)).toContain("s__grown_1");
    await call(opened, "s__grow");
    const names = opened.tools.map(({ name }) => name);
    expect(names).not.toContain("s__grown_2");
    expect(new Set(names).size).toBe(names.length);
    expect(logger.lines.join()).toContain('two tools with the name "echo"');
    await opened.close();
  });
});

describe("messages", () => {
  test.each([
    ["result", 200_000, true],
    ["structured", 200_000, true],
    ["error", 200_000, true],
    ["result", 1_001, true],
    ["notification", 200_000, false],
    ["request", 200_000, false],
    ["progress", 200_000, false],
    ["unknown", 200_000, false],
    ["nothing", 200_000, false],
    ["notification", 4_000_000, false],
  ])("U5: a %s of %d levels ends neither the process nor the server", async (where, levels, isError) => {
    tools = await toolset({ mcpServers: { s: scripted() } });
    const opened = await episode(tools);
    const before = textOf(await call(opened, "s__pid"));
    const result = await call(opened, "s__deep", { where, levels });
    const shown = isError ? expect.stringContaining("nested deeper than 1000 levels") : "fine";
    expect([result.isError, textOf(result)]).toEqual([isError, shown]);
    expect(textOf(await call(opened, "s__pid"))).toBe(before);
    await opened.close();
  });

  test("U5: a message that the client cannot handle ends the connection, and not the process", async () => {
    const inner: ServerTransport = {
      start: async () => undefined,
      send: async () => undefined,
      close: async () => inner.onclose?.(),
    };
    const guarded = new GuardedTransport(inner);
    let isClosed = false;
    Object.assign(guarded, {
      onmessage: () => {
        throw new RangeError("Maximum call stack size exceeded");
      },
      onclose: () => {
        isClosed = true;
      },
    });
    inner.onmessage?.({ jsonrpc: "2.0", method: "notifications/message" });
    expect([isClosed, guarded.ending]).toEqual([true, expect.stringContaining("Maximum call stack size exceeded")]);
  });

  test("U13: answers in advance reach no later call", async () => {
    tools = await toolset({ mcpServers: { s: scripted() }, servers: { s: { shared: true } } });
    const opened = await episode(tools);
    for (let i = 0; i < 5; i++) {
      expect(textOf(await call(opened, "s__forge"))).toBe("honest");
      expect(textOf(await call(opened, "s__echo", { i }))).toBe(`{"i":${i}}`);
    }
    await opened.close();
  });
});

describe("secrets", () => {
  test("values of variables reach no definition, result, error or log", async () => {
    process.env["SECRET_TOKEN"] = 'p4ss"w0rd/of+the=test';
    try {
      const logger = recordingLogger();
      const env = { ...scripted().env, SECRET_TOKEN: "${SECRET_TOKEN}" };
      const broken = toolset({ mcpServers: { s: { ...scripted("--broken"), env } } }, logger);
      const error = await broken.catch((thrown: Error) => `${thrown.message} ${JSON.stringify(thrown)}`);
      expect(error).toContain("cannot start with [SECRET_TOKEN]");
      tools = await toolset({ mcpServers: { s: { ...scripted(), env } } }, logger);
      const opened = await episode(tools);
      const shown = [
        JSON.stringify(tools.definitions),
        textOf(await call(opened, "s__env", { name: "SECRET_TOKEN" })),
        textOf(await call(opened, "s__echo", { SECRET_TOKEN: process.env["SECRET_TOKEN"] })),
        error,
        ...logger.lines,
      ].join("\n");
      expect(shown).toContain("SECRET_TOKEN is [SECRET_TOKEN]");
      expect(shown).not.toContain("w0rd/of");
      // Other variables of this process do not reach the server.
      process.env["UNNAMED"] = "unnamed";
      expect(textOf(await call(opened, "s__env", { name: "UNNAMED" }))).toBe("UNNAMED is undefined");
      await opened.close();
    } finally {
      delete process.env["SECRET_TOKEN"];
      delete process.env["UNNAMED"];
    }
  });
});
