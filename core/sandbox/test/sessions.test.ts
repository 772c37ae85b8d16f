import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import type { SandboxSession } from "@mrlm/spec";
import type { SandboxSessionOptions } from "@mrlm/spec/host";
import { PooledSandbox } from "../src/index.ts";
import { fragileBackend } from "./support/fragile-backend.ts";

const sandbox = new PooledSandbox({ backend: fragileBackend, sessions: 1, sessionQueue: 4, sessionWaitMs: 20_000 });
const opened: Promise<SandboxSession>[] = [];

/** Opens a session that is closed after the test. */
function open(options?: SandboxSessionOptions): Promise<SandboxSession> {
  const session = sandbox.session(options);
  opened.push(session);
  return session;
}

afterEach(async () => {
  for (const session of opened.splice(0)) await (await session.catch(() => undefined))?.close();
});
afterAll(() => sandbox.close());

const live = async (session: SandboxSession): Promise<readonly [child: string, evaluations: number]> =>
  (await session.evaluate({ code: "live" })).value as unknown as readonly [string, number];

describe("a session that has ended", () => {
  test("leaves its process to the next one, without its state", async () => {
    const one = await open();
    const next = open();
    const [child] = await live(one);
    expect(await live(one)).toEqual([child, 2]);
    await one.close();
    expect(one.end).toBe("closed");
    expect(await live(await next)).toEqual([child, 1]);
  });

  test.each([
    { code: "die", verdict: "killed", end: "exited" },
    { code: "exit", verdict: "ok", end: "exited" },
    { code: "hang", verdict: "timeout", end: "limit" },
  ] as const)("after `$code` gives its place to a new process", async ({ code, verdict, end }) => {
    const one = await open();
    const [child] = await live(one);
    expect(await one.evaluate({ code, limits: { wallMs: 200 } })).toMatchObject({ verdict });
    expect(one.end).toBe(end);
    expect((await live(await open()))[0]).not.toBe(child);
    await expect(one.evaluate({ code: "live" })).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  test("because the sandbox failed, or files were not written, gives its place back", async () => {
    const one = await open();
    await expect(one.evaluate({ code: "fail" })).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
    await expect(open({ files: { fault: "" } })).rejects.toMatchObject({
      code: "SANDBOX_FAILED",
      message: expect.stringMatching(/OSError: no space/),
    });
    expect((await live(await open()))[1]).toBe(1);
  });

  test("because its process ended between two evaluations gives its place back", async () => {
    const one = await open();
    await one.evaluate({ code: "die later" });
    const next = await open();
    expect(one.end).toBe("exited");
    expect((await live(next))[1]).toBe(1);
  });
});

describe("an idle session", () => {
  test("is closed after its time, and not during an evaluation", async () => {
    const one = await open({ idleMs: 300 });
    await live(one);
    expect(one.end).toBeUndefined();
    await open();
    expect(one.end).toBe("idle");
    await expect(one.evaluate({ code: "live" })).rejects.toThrow("it was not used for too long");
  });

  test("keeps its place while few callers wait a short time", async () => {
    const one = await open({ canYield: true });
    const waiting = [open(), open()];
    await live(one);
    expect(one.end).toBeUndefined();
    await one.close();
    await (await waiting[0])?.close();
    await waiting[1];
  });

  test("gives its place up if it may and many wait, but not during an evaluation", async () => {
    const one = await open({ canYield: true });
    const running = one.evaluate({ code: "hang", limits: { wallMs: 500 } });
    const waiting = [1, 2, 3, 4].map(() => open({ canYield: true }));
    expect(one.end).toBeUndefined();
    expect(await running).toMatchObject({ verdict: "timeout" });
    // Three callers wait while the second session is idle; two, half of the queue, while the third one is.
    const [two, three] = [await waiting[0], await waiting[1]];
    expect([two?.end, three?.end]).toEqual(["yielded", undefined]);
    await three?.close();
    await (await waiting[2])?.close();
    await waiting[3];
  });
});

test("the caller whose session is being closed may wait beyond the queue", async () => {
  const one = await open();
  const waiting = [1, 2, 3, 4].map(() => open());
  await expect(open()).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  const closed = one.close();
  const again = open();
  await closed;
  for (const session of [...waiting, again]) await (await session).close();
});

test("a caller whose signal is aborted leaves the queue, and its place goes to the next one", async () => {
  const one = await open();
  const controller = new AbortController();
  const aborted = open({ signal: controller.signal });
  const next = open();
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: "CANCELLED" });
  await one.close();
  expect((await live(await next))[1]).toBe(1);
});
