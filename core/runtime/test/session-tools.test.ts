import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { definePlugin, observe, singleStep, toolset, textMessage } from "@mrlm/kit";
import {
  type Determinism,
  type EnvironmentContext,
  type EnvironmentDefinition,
  type JsonObject,
  type MrlmError,
  type PluginContext,
  score,
  type ServiceId,
  type Tool,
  type ToolResult,
  type Toolset,
} from "@mrlm/spec";
import fc from "fast-check";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { limitOutput } from "../src/host/tool-call-limits.ts";
import { counterEnvironment, messageOf, never } from "./support/counter-environment.ts";

const text = (result: ToolResult | undefined) =>
  result?.content.map((part) => (part.type === "text" ? part.text : "")).join("");

function tool(name: string, call: Tool["call"], more: Partial<Tool> = {}): Tool {
  return { name, description: "", parameters: { type: "object" }, call, ...more };
}

const echo = tool(
  "echo",
  async (args) => ({ content: [{ type: "text", text: JSON.stringify(args) }], isError: false }),
  {
    parameters: {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    },
  },
);

/** Opens the toolsets at each reset; each step calls the tool that the message names, as `NAME JSON`. */
async function sessionWith(toolsets: Readonly<Record<string, Toolset>>) {
  const ids = Object.keys(toolsets);
  const results: ToolResult[] = [];
  const definition = counterEnvironment({
    tasks: undefined,
    requires: ids.map((id) => `tool:${id}` as const),
    create: (context: EnvironmentContext) => {
      let opened: { readonly tools: readonly Tool[] }[] = [];
      return {
        async reset({ seed = 0, signal }) {
          opened = [];
          for (const id of ids) opened.push(await context.tools(id).open({ seed, signal }));
          return observe([]);
        },
        async step({ message }, { signal }) {
          const [part] = message.parts;
          const [, name, args] = /^(\S+) (.*)$/.exec(part?.type === "text" ? part.text : "") ?? [];
          const found = opened.flatMap(({ tools }) => tools).find((each) => each.name === name);
          results.push((await found?.call(JSON.parse(args as string) as JsonObject, { signal })) as ToolResult);
          return singleStep({ reward: score(0) });
        },
      };
    },
  });
  const tools = Object.fromEntries(ids.map((id) => [id, () => toolsets[id] as Toolset]));
  const source = await PluginHost.of([definePlugin({ name: "test", environments: [definition], tools })]);
  const host = new LocalHost({ source, deadlines: { stepMs: 5000, step: 5000 } as object });
  const session = await host.open({ id: "counter" });
  const reset = (seed = 1) => session.reset({ seed, signal: never });
  const step = (line: string) => session.step(messageOf(line), { signal: never });
  const call = async (line: string) => {
    const { info } = await step(line);
    return { result: results.at(-1), info };
  };
  return { host, session, reset, step, call };
}

/** A toolset that records how many of its episodes are open. */
function counted(tools: readonly Tool[]): Toolset & { openCount: number; closed: number } {
  const toolset = {
    openCount: 0,
    closed: 0,
    async open() {
      toolset.openCount++;
      return {
        tools,
        async close() {
          toolset.openCount--;
          toolset.closed++;
        },
      };
    },
  };
  return toolset;
}

describe("calls", () => {
  test("arguments that do not match the schema are a result that the policy reads, and the tool is not called", async () => {
    const { reset, call } = await sessionWith({ "echo@1": toolset([echo]) });
    await reset();
    expect(await call('echo {"n":"one","m":1}')).toMatchObject({ result: { isError: true } });
    expect(text((await call('echo {"n":"one","m":1}')).result)).toMatch(/arguments\.n must be integer/);
    expect(text((await call('echo {"n":1,"m":1}')).result)).toMatch(/additional properties \("m"\)/);
    expect(text((await call('echo {"n":1}')).result)).toBe('{"n":1}');
  });

  test("usage of each tool is in the info of the step, for the episode so far", async () => {
    const { reset, call } = await sessionWith({ "echo@1": toolset([echo]) });
    await reset();
    await call('echo {"n":1}');
    const { info } = await call('echo {"n":null}');
    expect(info).toMatchObject({ tools: { echo: { calls: 2, errors: 1, truncated: 0, seconds: expect.any(Number) } } });
    await reset();
    expect((await call('echo {"n":1}')).info).toMatchObject({ tools: { echo: { calls: 1, errors: 0 } } });
  });

  test("a call beyond its timeout is a result with isError; its signal is aborted; waiting for a place does not count", async () => {
    let aborted = false;
    const slow = tool(
      "slow",
      (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => {
            aborted = true;
            reject(new Error("stopped"));
          }),
        ),
      { timeoutMs: 20 },
    );
    const queued = tool(
      "queued",
      async (_, options) => {
        await options.queued?.(() => new Promise((resolve) => setTimeout(resolve, 60)));
        return { content: [], isError: false };
      },
      { timeoutMs: 30 },
    );
    const { reset, call } = await sessionWith({ "a@1": toolset([slow, queued]) });
    await reset();
    const { result } = await call("slow {}");
    expect([result?.isError, aborted, text(result)]).toEqual([true, true, expect.stringContaining("0.02 s")]);
    expect((await call("queued {}")).result?.isError).toBe(false);
  });

  test("reports of progress restart the timeout of a call up to its ceiling, beyond the deadline of the step", async () => {
    // Ten reports, each well within the timeout, then none.
    const advancing =
      (reports: number): Tool["call"] =>
      async (_args, { progressed, signal }) => {
        for (let i = 0; i < reports && !signal.aborted; i++) {
          await delay(100);
          progressed?.();
        }
        if (reports === 0) await new Promise(() => undefined);
        return { content: [{ type: "text", text: "done" }], isError: false };
      };
    const limits = { timeoutMs: 400, maxTimeoutMs: 8000 };
    const { call, reset } = await sessionWith({
      "slow@1": toolset([
        tool("long", advancing(8), limits),
        tool("longest", advancing(1000), { timeoutMs: 400, maxTimeoutMs: 900 }),
        tool("silent", advancing(0), limits),
      ]),
    });
    await reset();
    expect(text((await call("long {}")).result)).toBe("done");
    expect(text((await call("longest {}")).result)).toBe("longest took longer than 0.9 s and was stopped.");
    expect(text((await call("silent {}")).result)).toBe("silent took longer than 0.4 s and was stopped.");
  });

  test("property: text is cut to at most the limit, on a character boundary, and states it", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 }), fc.nat(40), (texts, limit) => {
        const bytes = texts.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
        const result = limitOutput(
          { content: texts.map((each) => ({ type: "text", text: each })), isError: false },
          limit,
        );
        expect(result.truncated === true).toBe(bytes > limit);
        const kept = (text(result) ?? "").replaceAll(/\n\[truncated: \d+ of \d+ bytes\]/g, "");
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(limit);
        expect(kept.includes("\u{fffd}")).toBe(texts.join("").includes("\u{fffd}") && kept.includes("\u{fffd}"));
      }),
    );
  });
});

describe("episodes", () => {
  test("toolsets are closed by the next reset, by the end of the session, and after a failure of the environment", async () => {
    const toolset = counted([echo]);
    const { reset, call, session } = await sessionWith({ "echo@1": toolset });
    await reset();
    await reset();
    expect([toolset.openCount, toolset.closed]).toEqual([1, 1]);
    await expect(call("echo {")).rejects.toMatchObject({ code: "ENVIRONMENT_FAILED" });
    await new Promise(setImmediate);
    expect(toolset.openCount).toBe(0);
    await reset();
    await session.close();
    expect(toolset.openCount).toBe(0);
  });

  test("toolsets are closed after an abort, and a call that runs is aborted", async () => {
    const toolset = counted([
      echo,
      tool("hangs", (_args, { signal }) => once(signal, "abort").then(() => Promise.reject(new Error("aborted")))),
    ]);
    const { reset, session } = await sessionWith({ "a@1": toolset });
    for (const end of ["abort", "close"] as const) {
      await reset();
      const controller = new AbortController();
      const step = session.step(messageOf("hangs {}"), { signal: controller.signal });
      if (end === "abort") controller.abort();
      else await session.close();
      await expect(step).rejects.toMatchObject({ code: end === "abort" ? "CANCELLED" : "SESSION_NOT_FOUND" });
      await new Promise(setImmediate);
      expect(toolset.openCount).toBe(0);
    }
  });

  test("a toolset that opens after its reset was aborted is closed at once", async () => {
    const toolset = counted([echo]);
    const [begun, opening] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const late: Toolset = {
      async open(episode) {
        begun.resolve();
        await opening.promise;
        return toolset.open(episode);
      },
    };
    const { session } = await sessionWith({ "a@1": late });
    const controller = new AbortController();
    const reset = session.reset({ seed: 1, signal: controller.signal });
    await begun.promise;
    controller.abort();
    await expect(reset).rejects.toMatchObject({ code: "CANCELLED" });
    opening.resolve();
    await new Promise(setImmediate);
    expect([toolset.openCount, toolset.closed]).toEqual([0, 1]);
  });

  test("each demonstration has tools of its own, which end with it, also after a failure", async () => {
    const toolset = counted([echo]);
    const definition = counterEnvironment({
      requires: ["tool:echo@1"],
      async demonstrate(context, _options, task) {
        const { tools } = await context.tools("echo@1").open({ seed: 0, signal: never });
        if (task === "train/2") throw new Error("no solution");
        return { task, agent: "agent", messages: [textMessage("assistant", tools.map(({ name }) => name).join())] };
      },
    });
    const plugin = definePlugin({ name: "test", environments: [definition], tools: { "echo@1": () => toolset } });
    const host = new LocalHost({ source: await PluginHost.of([plugin]) });
    await host.demonstrate({ id: "counter" }, ["train/0", "train/1"]);
    expect([toolset.openCount, toolset.closed]).toEqual([0, 2]);
    await expect(host.demonstrate({ id: "counter" }, ["train/2"])).rejects.toThrow("no solution");
    expect(toolset.openCount).toBe(0);
  });

  test("a toolset that cannot be opened is TOOL_FAILED with its id", async () => {
    const opens: readonly (() => unknown)[] = [
      () => Promise.reject(new Error("no server")),
      () => {
        throw new Error("no server");
      },
      async () => undefined,
      async () => ({ tools: {} }),
    ];
    for (const open of opens) {
      const { reset } = await sessionWith({ "mcp@1": { open } as Toolset });
      await expect(reset()).rejects.toMatchObject({ code: "TOOL_FAILED", message: expect.stringContaining("mcp@1") });
    }
  });

  test("a tool that rejects, or returns no result, leaves the step unscored", async () => {
    const results: readonly unknown[] = [
      undefined,
      {},
      { content: "x", isError: false },
      { content: [{ type: "text" }], isError: false },
    ];
    const broken = results.map((result, i) => tool(`broken${i}`, async () => result as ToolResult));
    const rejects = tool("rejects", () => Promise.reject(new Error("gone")));
    const { reset, step } = await sessionWith({ "a@1": toolset([...broken, rejects]) });
    for (const { name } of [...broken, rejects]) {
      await reset();
      expect(await step(`${name} {}`)).toMatchObject({
        rewards: { agent: { scored: false, code: "TOOL_FAILED" } },
        info: { tools: { [name]: { calls: 1 } } },
      });
    }
  });

  test("two tools of one name are TOOL_CONFLICT: known ones when the environment is prepared, others when they are opened", async () => {
    const both = {
      message: expect.stringMatching(
        /a@1 \(plugin test\) and b@1 \(plugin test\) both have a tool with the name "echo"/,
      ),
    };
    await expect(sessionWith({ "a@1": toolset([echo]), "b@1": toolset([echo]) })).rejects.toMatchObject({
      code: "TOOL_CONFLICT",
      ...both,
    });
    const { reset } = await sessionWith({ "a@1": counted([echo]), "b@1": counted([echo]) });
    await expect(reset()).rejects.toMatchObject({ code: "TOOL_CONFLICT", ...both });
  });

  test("a name that no format of calls can spell is refused", async () => {
    const { reset } = await sessionWith({ "a@1": counted([{ ...echo, name: "two words" }]) });
    await expect(reset()).rejects.toMatchObject({ code: "PLUGIN_INVALID" });
  });
});

describe("determinism", () => {
  const described = async (own: EnvironmentDefinition["determinism"], extra: Partial<Toolset>) => {
    const definition = counterEnvironment({ determinism: own, requires: ["tool:a@1"] });
    const tools = { "a@1": () => ({ ...toolset([echo]), ...extra }) };
    const source = await PluginHost.of([definePlugin({ name: "test", environments: [definition], tools })]);
    const host = new LocalHost({ source });
    const session = await host.open({ id: "counter" });
    return { session, determinism: (await host.describe({ id: "counter" })).determinism };
  };

  test("is the least of the environment under its options and of its toolsets", async () => {
    const cases: readonly (readonly [Determinism, Determinism | undefined, Determinism])[] = [
      ["full", undefined, "full"],
      ["full", "replayable", "replayable"],
      ["replayable", "full", "replayable"],
      ["full", "none", "none"],
      ["none", "full", "none"],
    ];
    for (const [own, tools, expected] of cases)
      for (const stated of [own, () => own]) {
        const { determinism, session } = await described(stated, tools === undefined ? {} : { determinism: tools });
        expect(determinism).toBe(expected);
        const reset = session.reset({ seed: 1, signal: never });
        if (expected === "none") await expect(reset).rejects.toMatchObject({ code: "SEED_REFUSED" });
        else await reset;
      }
  });

  test("a value that is no guarantee, or a function that throws, is an error of the plugin", async () => {
    const failed = { code: "ENVIRONMENT_FAILED", message: expect.stringContaining("determinism") };
    await expect(described("some" as Determinism, {})).rejects.toMatchObject(failed);
    await expect(described("full", { determinism: "some" as Determinism })).rejects.toMatchObject(failed);
    const throws = () => {
      throw new Error("no");
    };
    await expect(described(throws, {})).rejects.toMatchObject(failed);
  });
});

describe("services of plugins", () => {
  const source = (
    requires: readonly ServiceId[],
    tools: Record<string, (context: PluginContext) => Promise<Toolset>>,
  ) => {
    const environment = counterEnvironment({ tasks: undefined, requires });
    return PluginHost.of([definePlugin({ name: "test", environments: [environment], tools })]);
  };
  const failure = (host: PluginHost) =>
    host.service("tool", "a@1", "a test").then(
      () => undefined,
      (error: MrlmError) => error,
    );

  test("a factory gets the services that its manifest requires, and no others", async () => {
    const asks = async (context: PluginContext) => (await context.tools("b@1"), toolset([echo]));
    const tools = { "a@1": asks, "b@1": async () => toolset([]) };
    expect(await failure(await source(["tool:b@1"], tools))).toBeUndefined();
    expect(await failure(await source([], tools))).toMatchObject({ code: "REQUIREMENT_UNDECLARED" });
  });

  test("a circle of requirements is an error with its path, and no wait", async () => {
    const tools = {
      "a@1": (context: PluginContext) => context.tools("b@1"),
      "b@1": (context: PluginContext) => context.tools("a@1"),
    };
    expect(await failure(await source(["tool:a@1", "tool:b@1"], tools))).toMatchObject({
      code: "PLUGIN_INVALID",
      message: expect.stringContaining("tool:b@1 -> tool:a@1 -> tool:b@1"),
    });
  });
});
