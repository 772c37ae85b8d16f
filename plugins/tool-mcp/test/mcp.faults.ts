import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { JsonObject, OpenToolset } from "@mrlm/kit";
import { toolContract } from "@mrlm/testing";
import type { McpToolset } from "../src/toolset.ts";
import { HttpServer } from "./support/http-server.ts";
import { serverProcesses, until } from "./support/processes.ts";
import { call, episode, scripted, textOf, toolset } from "./support/toolset.ts";

const folder = mkdtempSync(join(tmpdir(), "mcp-faults-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Open files of this process. */
const files = (): number => readdirSync("/proc/self/fd").length;
/** Timers and handles of this process, apart from those that the test runner makes. */
const handles = (): string[] => process.getActiveResourcesInfo().filter((kind) => kind !== "Timeout");
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

/** Runs many episodes of a toolset and then closes it. Expects that nothing is left. */
async function expectNothingLeft(
  create: () => Promise<McpToolset>,
  count: number,
  parallel: number,
  play: (opened: OpenToolset, index: number) => Promise<void>,
): Promise<void> {
  const before = { files: files(), handles: handles().length, timers: timers() };
  const tools = await create();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) {
      const opened = await episode(tools);
      try {
        await play(opened, i);
      } finally {
        await opened.close();
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  await tools.close();
  expect(serverProcesses()).toEqual([]);
  const isClean = await until(
    () => files() <= before.files && handles().length <= before.handles && timers() <= before.timers,
  );
  if (!isClean) expect({ files: files(), handles: handles().length, timers: timers() }).toEqual(before);
}

/** Calls a tool; a rejection is its message. */
async function outcome(opened: OpenToolset, name: string, args: JsonObject = {}): Promise<string> {
  return call(opened, name, args).then(
    (result) => textOf(result),
    (error: Error) => `rejected: ${error.message}`,
  );
}

test("200 episodes with well-behaved and hostile servers leave no process, file, pipe or timer", async () => {
  const flags = [[], ["--ignore-term"], ["--escape"], ["--child", "--banner"], ["--flood"]];
  for (const [i, each] of flags.entries())
    await expectNothingLeft(
      () => toolset({ mcpServers: { s: scripted(...each) } }),
      40,
      8,
      async (opened, index) => {
        expect(await outcome(opened, "s__count")).toBe("1");
        if (index % 4 === 1) await call(opened, "s__escape");
        if (index % 4 === 2) expect(await outcome(opened, "s__die")).toContain("rejected");
        if (index % 4 === 3 && i === 0) expect(await outcome(opened, "s__crash")).toContain("rejected");
      },
    );
});

test("200 episodes over one shared server, and 100 over HTTP, leave nothing", async () => {
  await expectNothingLeft(
    () => toolset({ mcpServers: { s: scripted() }, servers: { s: { shared: true, processes: 2 } } }),
    200,
    50,
    async (opened, i) => expect(await outcome(opened, "s__echo", { i })).toBe(`{"i":${i}}`),
  );
  const server = new HttpServer();
  const url = await server.listen();
  const tools = await toolset({ mcpServers: { s: { type: "http", url } } });
  for (let i = 0; i < 100; i++) {
    const opened = await episode(tools);
    expect(await outcome(opened, "s__stream")).toBe("fine");
    await opened.close();
  }
  await tools.close();
  expect([server.counts["initialize"], server.counts["DELETE"]]).toEqual([100, 100]);
  await server.close();
});

test("of 60 episodes that begin at once, at most four servers start at the same time", async () => {
  const log = join(folder, "starts");
  const tools = await toolset({ mcpServers: { s: scripted(`--log-starts=${log}`) } });
  const opened = await Promise.all(Array.from({ length: 60 }, () => episode(tools)));
  let starting = 0;
  let most = 0;
  for (const line of readFileSync(log, "utf8").trim().split("\n")) {
    starting += line === "start" ? 1 : -1;
    most = Math.max(most, starting);
  }
  expect([most <= 4, starting]).toEqual([true, 0]);
  await Promise.all(opened.map((each) => each.close()));
  await tools.close();
});

describe("calls that may have taken effect", () => {
  test("100 calls whose server ends are made once each, over processes", async () => {
    const tools = await toolset({ mcpServers: { s: scripted() }, servers: { s: { shared: true } } });
    const opened = await episode(tools);
    const file = join(folder, "effects");
    for (let i = 0; i < 100; i++) {
      const after = ["die", "crash"][i % 2] as string;
      expect(await outcome(opened, "s__effect", { file, after })).toContain("rejected");
    }
    expect(readFileSync(file, "utf8")).toBe("called\n".repeat(100));
    await opened.close();
    await tools.close();
  });

  test("70 calls whose answer is lost are made once each, over HTTP", async () => {
    const server = new HttpServer();
    const url = await server.listen();
    const tools = await toolset({ mcpServers: { s: { type: "http", url } }, servers: { s: { shared: true } } });
    const opened = await episode(tools);
    const faults = ["ends", "breaks", "drops", "fails", "gone", "html", "garbage"];
    for (let i = 0; i < 10; i++)
      for (const name of faults) expect(await outcome(opened, `s__${name}`)).toContain("rejected");
    expect(faults.map((name) => server.counts[name])).toEqual(faults.map(() => 10));
    await tools.close();
    await server.close();
  });
});

describe("extreme servers", () => {
  let tools: McpToolset;
  let opened: OpenToolset;
  beforeAll(async () => {
    tools = await toolset({ mcpServers: { s: scripted(), unanswering: scripted("--unanswering") } });
    opened = await episode(tools);
  });
  afterAll(async () => {
    await opened.close();
    await tools.close();
    expect(serverProcesses()).toEqual([]);
  });

  test("answers of 100 MB are discarded with less than 100 MB of memory", async () => {
    const before = process.memoryUsage().rss;
    let most = 0;
    const sampling = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
    for (let i = 0; i < 3; i++) expect(await outcome(opened, "s__large", { mib: 100 })).toContain("was discarded");
    clearInterval(sampling);
    expect((most - before) / 2 ** 20).toBeLessThan(100);
    expect(await outcome(opened, "s__count")).toBe("1");
  });

  test("a shared server that hangs is replaced, and the calls of others are still answered", async () => {
    const shared = await toolset({ mcpServers: { s: scripted() }, servers: { s: { shared: true } } });
    const episodes = await Promise.all(Array.from({ length: 10 }, () => episode(shared)));
    const [first] = episodes as [OpenToolset];
    const pid = await outcome(first, "s__pid");
    const abort = new AbortController();
    const blocked = call(first, "s__block", { ms: 8000 }, { signal: abort.signal });
    abort.abort(new Error("too late"));
    await expect(blocked).rejects.toThrow("too late");
    const waiting = Promise.all(episodes.map((each) => outcome(each, "s__pid")));
    // A ping has five seconds.
    await delay(6000);
    expect(await outcome(first, "s__pid")).not.toBe(pid);
    expect(await waiting).toEqual(episodes.map(() => pid));
    expect(await until(() => serverProcesses().every((each) => each !== pid))).toBe(true);
    await Promise.all(episodes.map((each) => each.close()));
    await shared.close();
  });

  test("a server that answers no call and yet a ping stays; one that answers neither is replaced", async () => {
    const aborted = async (name: string): Promise<void> => {
      const abort = new AbortController();
      const waiting = call(opened, name, {}, { signal: abort.signal });
      setTimeout(() => abort.abort(new Error("too late")), 50);
      await expect(waiting).rejects.toThrow("too late");
    };
    for (let i = 0; i < 20; i++) await aborted("unanswering__count");
    const processes = new Set(serverProcesses());
    await aborted("s__block");
    expect(await until(() => serverProcesses().length < processes.size)).toBe(true);
    expect(await outcome(opened, "s__count")).toMatch(/^\[s was started again/);
  });
});

test("when mrlm is killed, its servers end, also those that ignore SIGTERM and the end of their input", async () => {
  const script = fileURLToPath(new URL("support/orphan.ts", import.meta.url));
  for (let i = 0; i < 3; i++) {
    const child = spawn(process.execPath, ["--conditions=mrlm-source", script, String(process.pid)], {
      stdio: "inherit",
    });
    const signal = await new Promise((resolve) => child.once("exit", (_, by) => resolve(by)));
    expect(signal).toBe("SIGKILL");
    expect(await until(() => serverProcesses().length === 0)).toBe(true);
  }
});

const keep = { tool: "s__keep", args: { value: "this" } };
const kept = { tool: "s__kept", args: {} };

toolContract({
  name: "a server with a process for each episode",
  make: () => toolset({ mcpServers: { s: scripted() }, servers: { s: { tools: ["echo", "keep", "kept"] } } }),
  calls: [{ tool: "s__echo", args: { x: 1 } }, keep, kept],
  state: { change: keep, read: kept },
});
