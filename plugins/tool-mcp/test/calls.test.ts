import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { OpenToolset } from "@mrlm/kit";
import type { McpToolset } from "../src/toolset.ts";
import { serverProcesses } from "./support/processes.ts";
import { call, episode, recordingLogger, scripted, textOf, toolset } from "./support/toolset.ts";

describe("results", () => {
  let tools: McpToolset;
  let opened: OpenToolset;
  const logger = recordingLogger();
  beforeAll(async () => {
    const mcpServers = { s: scripted("--banner", "--noise", "--twice", "--page=5") };
    tools = await toolset({ mcpServers, servers: { s: { message_bytes: 2 ** 20 } } }, logger);
    opened = await episode(tools);
  });
  afterAll(async () => {
    await opened.close();
    await tools.close();
    expect(serverProcesses()).toEqual([]);
  });

  test("all pages of the list are read, and tools are named SERVER__TOOL", () => {
    expect(tools.definitions.length).toBeGreaterThan(20);
    expect(tools.definitions.map(({ name }) => name)).toContain("s__effect");
    expect(opened.tools.map(({ name }) => name)).toEqual(tools.definitions.map(({ name }) => name));
  });

  test("a banner, log lines on stdout and repeated answers change nothing, and each kind is reported once", async () => {
    for (let i = 1; i <= 3; i++) expect(textOf(await call(opened, "s__count"))).toBe(String(i));
    expect(logger.lines.filter((line) => line.includes("Welcome to the server!"))).toHaveLength(1);
    expect(logger.lines.filter((line) => line.includes("unknown message ID"))).toHaveLength(1);
  });

  test.each([
    ["empty", "The tool returned no content.", false],
    ["image", "[image/png]", false],
    ["audio", "[Audio audio/wav of 3 bytes, which cannot be shown]", false],
    ["structured", '{"n":1}', false],
    ["both", '{ "n": 1 }', false],
    ["fails", "it failed", true],
    ["refuses", "no such thing (code -32602)", true],
  ])("%s", async (name, text, isError) => {
    const result = await call(opened, `s__${name}`);
    expect([textOf(result), result.isError]).toEqual([text, isError]);
  });

  test("resources are texts, or a statement of what cannot be shown", async () => {
    expect(textOf(await call(opened, "s__resource"))).toBe(
      "[Resource memo://1]\na memo\n[Resource blob://1: 3 bytes application/zip, which cannot be shown]\n[Resource x: file:///x]",
    );
  });

  test("a result that violates the output schema is an error that states why, with the result", async () => {
    const wrong = await call(opened, "s__violates");
    expect([wrong.isError, textOf(wrong)]).toEqual([
      true,
      expect.stringMatching(/violates.*n must be number.*\none\n\{"n":"one"\}$/s),
    ]);
    const none = await call(opened, "s__unstructured");
    expect([none.isError, textOf(none)]).toEqual([true, expect.stringContaining("has no structured content")]);
  });

  test("an answer that is no result of the protocol rejects, and the server stays", async () => {
    const before = textOf(await call(opened, "s__pid"));
    await expect(call(opened, "s__garbage")).rejects.toThrow("MCP server s: Invalid result");
    expect(textOf(await call(opened, "s__pid"))).toBe(before);
  });

  test("a tool that the server adds during a call is there when the call returns", async () => {
    await call(opened, "s__grow");
    expect(textOf(await call(opened, "s__grown_1"))).toBe("grown_1 called");
    expect(tools.definitions.map(({ name }) => name)).not.toContain("s__grown_1");
  });

  test("an answer above the limit is an error that states it, and the server stays", async () => {
    const before = textOf(await call(opened, "s__pid"));
    const large = await call(opened, "s__large", { mib: 2 });
    expect([large.isError, textOf(large)]).toEqual([true, "The answer was larger than 1 MiB and was discarded."]);
    expect(textOf(await call(opened, "s__pid"))).toBe(before);
  });

  test("progress is passed on", async () => {
    let reports = 0;
    const progressed = () => void reports++;
    expect(textOf(await call(opened, "s__advance", { times: 3, ms: 40 }, { progressed }))).toBe("arrived");
    expect(reports).toBeGreaterThan(0);
  });

  test("an aborted call rejects at once, and the server answers the next one", async () => {
    const abort = new AbortController();
    const hanging = call(opened, "s__hang", {}, { signal: abort.signal });
    abort.abort(new Error("too late"));
    await expect(hanging).rejects.toThrow("too late");
    expect(textOf(await call(opened, "s__echo", { x: 1 }))).toBe('{"x":1}');
  });
});

describe("servers that end", () => {
  test("the call rejects once, its effect is not repeated, and the next call starts a new server and reports it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcp-effect-"));
    const tools = await toolset({ mcpServers: { s: scripted() } });
    const opened = await episode(tools);
    const file = join(folder, "effect");
    await expect(call(opened, "s__effect", { file, after: "die" })).rejects.toThrow("it ended with code 3");
    expect(textOf(await call(opened, "s__count"))).toMatch(/^\[s was started again. What it kept .* is lost.\]\n1$/);
    expect(textOf(await call(opened, "s__count"))).toBe("2");
    await expect(call(opened, "s__effect", { file, after: "crash" })).rejects.toThrow("it was ended by SIGKILL");
    expect(readFileSync(file, "utf8")).toBe("called\ncalled\n");
    await opened.close();
    await tools.close();
    rmSync(folder, { recursive: true });
    expect(serverProcesses()).toEqual([]);
  });

  test("each episode has a server of its own; a shared one serves all, and is replaced when it ends", async () => {
    const tools = await toolset({
      mcpServers: { own: scripted(), all: scripted() },
      servers: { all: { shared: true } },
    });
    const [a, b] = await Promise.all([episode(tools), episode(tools)]);
    const counts = [];
    for (const name of ["own__count", "all__count"])
      for (const opened of [a, b]) counts.push(textOf(await call(opened, name)));
    expect(counts).toEqual(["1", "1", "1", "2"]);
    await expect(call(a, "all__die")).rejects.toThrow("MCP server all");
    expect(textOf(await call(b, "all__count"))).toBe("1");
    await Promise.all([a.close(), b.close()]);
    expect(textOf(await call(await episode(tools), "all__count"))).toBe("2");
    await tools.close();
    expect(serverProcesses()).toEqual([]);
  });

  test("a shared server is reported before the first episode, unless it states that its tools change nothing", async () => {
    const logger = recordingLogger();
    const offered = { tools: ["echo", "keep", "kept"] };
    const readOnly = ["echo", "kept"].map((name) => `--read-only=${name}`);
    const tools = await toolset(
      {
        mcpServers: { own: scripted(), all: scripted(...readOnly), search: scripted(...readOnly) },
        servers: { own: offered, all: { ...offered, shared: true }, search: { shared: true, tools: ["echo", "kept"] } },
      },
      logger,
    );
    expect(logger.lines).toEqual([
      "All episodes share the MCP server all, which does not state by `readOnlyHint` that calls of keep change nothing: an episode can read what another wrote. Without `shared` each episode has a server of its own.",
    ]);
    const [one, other] = [await episode(tools), await episode(tools)];
    for (const [server, kept] of [
      ["all", "it is mine"],
      ["own", "it is nothing"],
    ]) {
      await call(one, `${server}__keep`, { value: "mine" });
      expect(textOf(await call(other, `${server}__kept`))).toBe(kept);
    }
    await Promise.all([one.close(), other.close()]);
    await tools.close();
  });
});
