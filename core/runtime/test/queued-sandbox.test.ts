import { expect, test } from "@jest/globals";
import { definePlugin, observe, singleStep } from "@mrlm/kit";
import { MrlmError, type Sandbox, type SandboxResult } from "@mrlm/spec";
import type { SandboxCallOptions } from "@mrlm/spec/host";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { counterEnvironment, messageOf, never } from "./support/counter-environment.ts";

const STEP_MS = 300;
const RESULT = { verdict: "ok", stdout: "", stderr: "" } as unknown as SandboxResult;
const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Steps an environment that calls the sandbox once, with a deadline of `STEP_MS`. Returns the code of the step's error. */
async function stepWith(
  run: (options: SandboxCallOptions) => Promise<SandboxResult>,
  call: (sandbox: Sandbox) => Promise<unknown> = (sandbox) => sandbox.run({ code: "" }),
  { signal = never, phase = "step" as "step" | "reset" } = {},
): Promise<string> {
  const sandbox = {
    language: "none",
    limits: {},
    run: (_: unknown, options: SandboxCallOptions) => run(options),
    session: (options: SandboxCallOptions) => run(options),
    close: async () => undefined,
  } as unknown as Sandbox;
  const environment = counterEnvironment({
    tasks: undefined,
    requires: ["sandbox:none"],
    deadlines: { setupMs: STEP_MS, stepMs: STEP_MS },
    create: (context) => ({
      async reset() {
        if (phase === "reset") await call(context.sandbox("none"));
        return observe([]);
      },
      async step() {
        if (phase === "step") await call(context.sandbox("none"));
        return singleStep({ terminated: true });
      },
    }),
  });
  const source = await PluginHost.of([
    definePlugin({ name: "test", environments: [environment], sandboxes: { none: () => sandbox } }),
  ]);
  const session = await new LocalHost({ source }).open({ id: "counter" });
  try {
    await session.reset({ seed: 1, signal: never });
    await session.step(messageOf("x"), { signal });
    return "none";
  } catch (error) {
    return MrlmError.isInstance(error) ? error.code : String(error);
  }
}

const waits = async ({ queued }: SandboxCallOptions): Promise<SandboxResult> => {
  await queued?.(() => after(2 * STEP_MS));
  return RESULT;
};

test.each(["step", "reset"] as const)("U4: a wait for a place does not count in %s, work does", async (phase) => {
  expect(await stepWith(waits, undefined, { phase })).toBe("none");
  expect(await stepWith(waits, (sandbox) => sandbox.session(), { phase })).toBe("none");
  expect(await stepWith(() => after(2 * STEP_MS).then(() => RESULT), undefined, { phase })).toBe("DEADLINE_EXCEEDED");
});

test.each([
  ["call", (sandbox: Sandbox) => sandbox.run({ code: "" })],
  ["session", (sandbox: Sandbox) => sandbox.session({ idleMs: 1 })],
])("U4: a full queue delays a %s, for longer than the deadline of its step", async (_name, call) => {
  let calls = 0;
  const full = async (): Promise<SandboxResult> => {
    if (++calls < 3) throw new MrlmError("RESOURCE_EXHAUSTED", "the queue is full", { retryDelayMs: STEP_MS });
    return RESULT;
  };
  expect(await stepWith(full, call)).toBe("none");
  expect(calls).toBe(3);
});

test("U4: an episode that holds a session does not wait without end for another", async () => {
  let calls = 0;
  const full = async (): Promise<SandboxResult> => {
    if (++calls > 1) throw new MrlmError("RESOURCE_EXHAUSTED", "no place");
    return RESULT;
  };
  const both = async (sandbox: Sandbox): Promise<unknown> => [await sandbox.session(), await sandbox.session()];
  expect([await stepWith(full, both), calls]).toEqual(["ENVIRONMENT_FAILED", 2]);
});

test("U4: a call ends with its phase, also where the environment gives no signal", async () => {
  const caller = new AbortController();
  const ended = Promise.withResolvers<void>();
  const full = async ({ signal }: SandboxCallOptions): Promise<SandboxResult> => {
    if (signal?.aborted) {
      ended.resolve();
      throw new MrlmError("CANCELLED", "it was aborted");
    }
    setTimeout(() => caller.abort(), 5);
    throw new MrlmError("RESOURCE_EXHAUSTED", "the queue is full", { retryDelayMs: 60_000 });
  };
  expect(await stepWith(full, undefined, { signal: caller.signal })).toBe("CANCELLED");
  await ended.promise;
});
