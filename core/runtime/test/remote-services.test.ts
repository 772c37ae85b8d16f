import { expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { localChannel } from "@mrlm/process";
import {
  type JsonObject,
  MrlmError,
  type Sandbox,
  type SandboxSessionEnd,
  score,
  type Scorer,
  type Tool,
  type Toolset,
} from "@mrlm/spec";
import { remoteServices, serveServices } from "../src/index.ts";
import type { Services } from "../src/plugins/plugin-kinds.ts";

/** Returns the remote form of a service, and a function that ends the process which uses it. */
async function remote<T extends object>(kind: "scorer" | "sandbox" | "tool", service: T): Promise<[T, () => void]> {
  const { ends, close: cut } = localChannel();
  serveServices(ends[0], { service: async () => service } as unknown as Services);
  return [(await remoteServices(ends[1]).service(kind, "x@1", "a test")) as unknown as T, cut];
}

const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

test("a scorer returns what it returns without a process between, with its errors and its waits", async () => {
  const order: string[] = [];
  const scorer: Scorer = {
    determinism: "replayable",
    async score({ answer, queued }) {
      if (answer === "full")
        throw new MrlmError("RESOURCE_EXHAUSTED", "The queue is full.", { hint: "Wait.", retryDelayMs: 70 });
      if (answer === "broken") throw new TypeError("its own words");
      await queued?.(async () => void order.push("waited"));
      return { reward: score(Number(answer)), verdict: "equivalent", reason: "r", detail: { nan: Number.NaN } };
    },
  };
  const [proxy] = await remote("scorer", scorer);
  expect(proxy.determinism).toBe("replayable");
  const queued = async <T>(wait: () => Promise<T>): Promise<T> => {
    order.push("begins");
    const value = await wait();
    order.push("ends");
    return value;
  };
  expect(await proxy.score({ answer: "0.5", expected: "", signal: never, queued })).toEqual(
    await scorer.score({ answer: "0.5", expected: "" }),
  );
  await settle();
  // The wait is in the one process, its effect on the deadline in the other.
  expect(order.filter((each) => each !== "waited")).toEqual(["begins", "ends"]);
  expect(order).toContain("waited");
  await expect(proxy.score({ answer: "full", expected: "" })).rejects.toMatchObject({
    ...{
      code: "RESOURCE_EXHAUSTED",
      message: "The queue is full.",
      hint: "Wait.",
      retryDelayMs: 70,
      isRetryable: true,
    },
  });
  const broken = await proxy.score({ answer: "broken", expected: "" }).catch((error: unknown) => error as Error);
  expect([MrlmError.isInstance(broken), (broken as Error).message]).toEqual([
    false,
    expect.stringContaining("its own words"),
  ]);
});

/** Sandbox whose evaluations last until they are aborted, except `1`. */
function fakeSandbox(): { readonly sandbox: Sandbox; readonly closed: string[]; end: SandboxSessionEnd | undefined } {
  const state = { closed: [] as string[], end: undefined as SandboxSessionEnd | undefined };
  const result = { verdict: "ok", stdout: "", stderr: "", stdoutTruncated: false, stderrTruncated: false } as const;
  const numbers = { wallMs: 1, cpuMs: 1, peakMemoryBytes: 1 };
  const sandbox = {
    language: "none",
    limits: { wallMs: 1, cpuMs: 2, memoryBytes: 3, outputBytes: 4 },
    async session() {
      return {
        get end() {
          return state.end;
        },
        evaluate: ({ code }: { code: string }, { signal }: { signal?: AbortSignal } = {}) =>
          code === "1"
            ? Promise.resolve({ ...result, ...numbers, value: 1 })
            : new Promise((_, reject) =>
                signal?.addEventListener("abort", () => {
                  state.closed.push("aborted");
                  reject(signal.reason as Error);
                }),
              ),
        restore: async () => undefined,
        close: async () => void state.closed.push("closed"),
      };
    },
    close: async () => void state.closed.push("the sandbox"),
  } as unknown as Sandbox;
  return Object.assign(state, { sandbox });
}

test("a session of a sandbox shows its end, is aborted, and ends with the process that has it", async () => {
  const state = fakeSandbox();
  const [sandbox, cut] = await remote("sandbox", state.sandbox);
  expect([sandbox.language, sandbox.limits.cpuMs]).toEqual(["none", 2]);
  const session = await sandbox.session({ idleMs: 5 });
  expect([session.end, typeof session.snapshot, typeof session.restore]).toEqual([undefined, "undefined", "function"]);
  expect(await session.evaluate({ code: "1" })).toMatchObject({ value: 1 });
  const controller = new AbortController();
  const waiting = session.evaluate({ code: "2" }, { signal: controller.signal });
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
  state.end = "idle";
  while (session.end === undefined) await settle();
  expect(session.end).toBe("idle");
  await sandbox.close();
  const other = await sandbox.session();
  other.evaluate({ code: "3" }).catch(() => undefined);
  await settle();
  cut();
  await settle();
  expect(state.closed).toEqual(["aborted", "closed", "closed"]);
});

test("a session that opens after the process that asked for it is gone is closed", async () => {
  const { sandbox, closed } = fakeSandbox();
  const opening = Promise.withResolvers<void>();
  const slow = { ...sandbox, session: () => opening.promise.then(() => sandbox.session()) };
  const [proxy, cut] = await remote("sandbox", slow);
  const session = proxy.session();
  await settle();
  cut();
  await expect(session).rejects.toThrow("closed");
  opening.resolve();
  await settle();
  expect(closed).toEqual(["closed"]);
});

test("a toolset has the streams of its episode, the tools of the moment, and the progress of calls", async () => {
  const tool = (name: string): Tool => ({
    name,
    description: `Does ${name}.`,
    parameters: { type: "object" },
    timeoutMs: 7,
    call: async ({ word }: JsonObject, { progressed }) => {
      progressed?.();
      tools = [first, tool("later")];
      return { content: [{ type: "text", text: `${name} ${String(word)}` }], isError: false };
    },
  });
  const first = tool("first");
  let tools: readonly Tool[] = [first];
  let drawn: number | undefined;
  let isClosed = false;
  const toolset: Toolset = {
    determinism: "none",
    async open({ random, files }) {
      drawn = random("cards").next();
      expect(files?.["a.bin"]).toEqual(new Uint8Array([1, 2]));
      return {
        get tools() {
          return tools;
        },
        close: async () => void (isClosed = true),
      };
    },
  };
  const [proxy] = await remote("tool", toolset);
  expect([proxy.determinism, "definitions" in proxy]).toEqual(["none", false]);
  const random = (name: string) => randomStream(name, 1);
  const opened = await proxy.open({ seed: 5, signal: never, random, files: { "a.bin": new Uint8Array([1, 2]) } });
  expect(drawn).toBe(randomStream("tools/x@1/cards", 5).next());
  const [only] = opened.tools as [Tool];
  expect(opened.tools[0]).toBe(only);
  expect(only).toMatchObject({ name: "first", description: "Does first.", timeoutMs: 7 });
  let progress = 0;
  const { content } = await only.call({ word: "go" }, { signal: never, progressed: () => void progress++ });
  expect([content, progress]).toEqual([[{ type: "text", text: "first go" }], 1]);
  expect(opened.tools.map(({ name }) => name)).toEqual(["first", "later"]);
  expect(opened.tools[0]).toBe(only);
  await opened.close();
  expect(isClosed).toBe(true);
});

test("a tool works in the workspace that was opened through the same channel", async () => {
  const opened = { snapshot: async (options: unknown) => JSON.stringify(options), close: async () => undefined };
  const workspaces = { limits: {}, open: async () => opened, close: async () => undefined };
  let given: unknown;
  const toolset: Toolset = {
    async open({ workspace }) {
      given = workspace;
      return { tools: [], close: async () => undefined };
    },
  };
  const { ends, close: cut } = localChannel();
  const service = async (kind: string): Promise<object> => (kind === "workspace" ? workspaces : toolset);
  serveServices(ends[0], { service } as unknown as Services);
  const services = remoteServices(ends[1]);
  const provider = await services.service("workspace", "linux", "a test");
  const tool = await services.service("tool", "x@1", "a test");
  const workspace = await provider.open();
  const episode = { seed: 1, signal: never, random: (name: string) => randomStream(name, 1) };
  await tool.open({ ...episode, workspace });
  expect(given).toBe(opened);
  await tool.open(episode);
  expect(given).toBeUndefined();
  expect(await workspace.snapshot({ ends: true, key: "k" })).toBe('{"ends":true,"key":"k"}');
  await workspace.close();
  given = "no workspace";
  await expect(tool.open({ ...episode, workspace })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  expect(given).toBe("no workspace");
  cut();
});
