import { expect, test } from "@jest/globals";
import { definePlugin, observe, singleStep } from "@mrlm/kit";
import { MrlmError, type Workspace, type WorkspaceOptions, type Workspaces } from "@mrlm/spec";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { counterEnvironment, messageOf, never } from "./support/counter-environment.ts";

const STEP_MS = 300;
const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Opens a session of an environment that opens a workspace in its reset. */
async function sessionWith(
  opens: (options: WorkspaceOptions) => Promise<void>,
  step: () => Promise<void> = async () => undefined,
) {
  const events: string[] = [];
  let last = 0;
  const workspaces: Workspaces = {
    limits: { timeoutMs: 1, cpuMs: 1, memoryBytes: 1, processes: 1, fileBytes: 1, diskBytes: 1, outputBytes: 1 },
    sockets: "",
    async open(options = {}) {
      await opens(options);
      const id = ++last;
      events.push(`open ${id}`);
      return { close: async () => void events.push(`close ${id}`) } as Partial<Workspace> as Workspace;
    },
    close: async () => undefined,
  };
  const environment = counterEnvironment({
    tasks: undefined,
    requires: ["workspace:none"],
    deadlines: { setupMs: STEP_MS, stepMs: STEP_MS },
    create: (context) => ({
      async reset() {
        await context.workspaces("none").open();
        return observe([]);
      },
      async step() {
        await step();
        return singleStep({ terminated: true });
      },
    }),
  });
  const source = await PluginHost.of([
    definePlugin({ name: "test", environments: [environment], workspaces: { none: () => workspaces } }),
  ]);
  return { session: await new LocalHost({ source }).open({ id: "counter" }), events };
}

const reset = { seed: 1, signal: never };

test("a workspace is closed by the next episode, a failed step, and the end of the session", async () => {
  let fails = false;
  const { session, events } = await sessionWith(
    async () => undefined,
    async () => {
      if (fails) throw new Error("no");
    },
  );
  await session.reset(reset);
  await session.step(messageOf("x"), { signal: never });
  expect(events).toEqual(["open 1"]);
  await session.reset(reset);
  expect(events).toEqual(["open 1", "close 1", "open 2"]);
  fails = true;
  await expect(session.step(messageOf("x"), { signal: never })).rejects.toMatchObject({ code: "ENVIRONMENT_FAILED" });
  while (!events.includes("close 2")) await after(5);
  fails = false;
  await session.reset(reset);
  await session.close();
  expect(events.slice(-2)).toEqual(["open 3", "close 3"]);
});

test("a wait for a place counts against no deadline, and a full queue is tried again", async () => {
  let tries = 0;
  const { session } = await sessionWith(async ({ queued }) => {
    if (++tries < 3) throw new MrlmError("RESOURCE_EXHAUSTED", "The queue is full.", { retryDelayMs: STEP_MS });
    await queued?.(() => after(2 * STEP_MS));
  });
  await session.reset(reset);
  expect(tries).toBe(3);
  await session.close();
});

test("a workspace that is opened after its deadline is closed", async () => {
  const opened = Promise.withResolvers<void>();
  const { session, events } = await sessionWith(() => opened.promise);
  await expect(session.reset(reset)).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  await session.close();
  opened.resolve();
  while (events.length < 2) await after(5);
  expect(events).toEqual(["open 1", "close 1"]);
});
