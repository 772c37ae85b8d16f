import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "@jest/globals";
import { remoteServices } from "@mrlm/runtime";
import type { Plugin, Sandbox, Scorer } from "@mrlm/spec";
import calculator from "@mrlm/tool-calculator";
import files from "@mrlm/tool-files";
import python from "@mrlm/tool-python";
import rules from "@mrlm/judge-rules";
import math from "@mrlm/scorer-math";
import { pluginContract, sandboxContract } from "@mrlm/testing";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const file = fileURLToPath(new URL("support/service-process.ts", import.meta.url));

/** Starts a process with all services. The services of this one are proxies of them. */
async function start(): Promise<{
  readonly child: ChildProcess;
  readonly services: ReturnType<typeof remoteServices>;
}> {
  const child = fork(file, [ROOT], { serialization: "advanced", execArgv: ["--conditions=mrlm-source"] });
  await once(child, "message");
  const closed = new AbortController();
  child.once("exit", () => closed.abort());
  const services = remoteServices({
    closed: closed.signal,
    send: (body) => void child.send(body as object),
    onMessage(listener) {
      const receive = (body: unknown): void => listener(own(body));
      child.on("message", receive);
      return () => void child.off("message", receive);
    },
  });
  return { child, services };
}

/** Copies data into the realm of the test: messages are made in that of Node. */
function own(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, own);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, own(each)]));
}

const { child, services } = await start();
afterAll(async () => {
  child.kill("SIGKILL");
  await once(child, "exit");
});

/** Returns the plugin with the services of the other process in place of its own. */
function remote<P extends Plugin>(plugin: P): P {
  const over = (kind: "scorer" | "judge" | "tool", made: object = {}) =>
    Object.fromEntries(Object.keys(made).map((id) => [id, () => services.service(kind, id, "a test")]));
  return {
    ...plugin,
    ...(plugin.scorers && { scorers: over("scorer", plugin.scorers) }),
    ...(plugin.judges && { judges: over("judge", plugin.judges) }),
    ...(plugin.tools && { tools: over("tool", plugin.tools) }),
  };
}

describe("over the connection to another process", () => {
  for (const plugin of [math, rules, calculator, files, python] as readonly Plugin[])
    pluginContract({ plugins: [remote(plugin)] });
  for (const language of ["javascript", "python"])
    sandboxContract({
      name: `the sandbox of ${language}`,
      make: () => services.service("sandbox", language, "a test"),
      // The process that has a sandbox closes it.
      registry: { describe, test: (title, ...rest) => void (title.startsWith("closing it") || test(title, ...rest)) },
    });
});

test("1000 answers have the grades of a scorer of this process", async () => {
  const own = (await math.scorers?.["math@2"]?.({} as never, {} as never)) as Scorer;
  const proxy = await services.service("scorer", "math@2", "a test");
  for (let i = 0; i < 1000; i++) {
    const request = {
      answer: `<answer>${i % 7 === 0 ? "x^" : ""}${i % 3}/${i % 5}</answer>`,
      expected: `${i % 4}/${(i % 5) + 1}`,
    };
    expect(await proxy.score(request)).toEqual(await own.score(request));
  }
});

test("20 aborted evaluations leave no session in the process with the services", async () => {
  const sandbox: Sandbox = await services.service("sandbox", "python", "a test");
  for (let i = 0; i < 20; i++) {
    const session = await sandbox.session({ canYield: false });
    const controller = new AbortController();
    const running = session.evaluate({ code: "while True: pass" }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
    await session.close();
  }
  const last = await sandbox.session();
  expect(await last.evaluate({ code: "1 + 1" })).toMatchObject({ value: 2 });
  await last.close();
});
