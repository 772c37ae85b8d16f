import { expect, test } from "@jest/globals";
import { createServer } from "node:net";
import { once } from "node:events";
import { MrlmError } from "@mrlm/spec";
import type { Launcher, PartEnd, PartEvent, RunPart } from "@mrlm/spec/host";
import { LaunchedParts } from "../src/services/launched-parts.ts";
import type { PlannedPart } from "../src/services/part-commands.ts";

/** Launcher without processes: each start ends with the next cause, or runs until the end. */
class ScriptedLauncher implements Launcher {
  readonly started: RunPart[] = [];
  isStopped = false;
  readonly #causes: PartEnd[];

  constructor(...causes: PartEnd[]) {
    this.#causes = causes;
  }

  async start(parts: readonly RunPart[], onEvent: (event: PartEvent) => void): Promise<void> {
    for (const part of parts) {
      const about = { id: `${part.kind}-${this.started.length}`, kind: part.kind, node: "n1", pid: 7 };
      this.started.push(part);
      onEvent({ kind: "started", process: about });
      onEvent({ kind: "output", process: about, line: "hello" });
      const cause = this.#causes.shift();
      if (cause !== undefined) setImmediate(() => onEvent({ kind: "ended", process: about, cause }));
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
  }
}

const worker = (restarts: number): PlannedPart => ({
  part: { kind: "rollouts", command: ["mrlm", "play"], count: 3, cpus: 2 },
  restarts,
});
const KILLED: PartEnd = { kind: "signal", signal: "SIGKILL" };

/** Starts a part, waits for some notices, and stops. */
async function play(launcher: ScriptedLauncher, planned: PlannedPart, count: number): Promise<string[]> {
  const notices: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const notice = (text: string): void => {
    notices.push(text);
    if (notices.length === count) resolve();
  };
  const parts = new LaunchedParts(launcher, notice, () => undefined, 1);
  await parts.start([planned]);
  await promise;
  await parts.stop();
  return notices;
}

test("a process that ended by a fault is started again, alone and with the same resources, up to a limit", async () => {
  const launcher = new ScriptedLauncher(KILLED, { kind: "node_lost", node: "n1" }, { kind: "exit", code: 1 });
  expect(await play(launcher, worker(2), 6)).toEqual([
    "rollouts-0: hello",
    "rollouts-0 on n1 (process 7) ended by SIGKILL; starting another in 0.001 s.",
    "rollouts-1: hello",
    "The machine n1 was lost, and rollouts-1 (process 7) with it; starting another in 0.002 s.",
    "rollouts-2: hello",
    "rollouts-2 on n1 (process 7) ended with code 1; it is not started again after 2 restarts.",
  ]);
  expect(launcher.started.map(({ count, cpus }) => [count, cpus])).toEqual([
    [3, 2],
    [1, 2],
    [1, 2],
  ]);
  expect(launcher.isStopped).toBe(true);
});

test("a command that is refused is not started again", async () => {
  const launcher = new ScriptedLauncher({ kind: "exit", code: 2 });
  expect((await play(launcher, worker(2), 2))[1]).toBe(
    "rollouts-0 on n1 (process 7) ended with code 2; it is not started again.",
  );
  expect(launcher.started).toHaveLength(1);
});

test("a worker that ends with the run is no fault; a server that does is one", async () => {
  const ended: PartEnd = { kind: "exit", code: 0 };
  expect(await play(new ScriptedLauncher(ended), worker(2), 1)).toEqual(["rollouts-0: hello"]);
  const store: PlannedPart = { part: { kind: "store", command: ["mrlm"], count: 1 }, restarts: 0 };
  expect(await play(new ScriptedLauncher(ended), store, 2)).toEqual([
    "store-0: hello",
    "store-0 on n1 (process 7) ended with code 0; it is not started again.",
  ]);
});

test("a server that training needs is waited for, or its fault is the error", async () => {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = `127.0.0.1:${(server.address() as { readonly port: number }).port}`;
  const part: RunPart = { kind: "environments", command: ["mrlm", "serve"], count: 1 };
  const parts = (launcher: Launcher): LaunchedParts =>
    new LaunchedParts(
      launcher,
      () => undefined,
      () => undefined,
    );
  await parts(new ScriptedLauncher()).start([{ part, restarts: 0, address }]);
  server.close();
  const failing = parts(new ScriptedLauncher({ kind: "exit", code: 2 }));
  const error = await failing.start([{ part, restarts: 0, address }]).catch((fault: unknown) => fault);
  expect(MrlmError.hasCode(error, "LAUNCHER_FAILED")).toBe(true);
  expect((error as MrlmError).message).toBe("environments-0 on n1 (process 7) ended with code 2.");
});
