import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Launcher, PartEvent, RunPart } from "@mrlm/spec/host";
import type { Check } from "../check/check.ts";
import { expectCode } from "../contract/expect-code.ts";

/** Longest wait for an event, in milliseconds. */
const EVENT_MS = 30_000;
/** Time between SIGTERM and SIGKILL, in milliseconds. */
const GRACE_MS = 500;

/** A process that ignores SIGTERM and starts another one, in a group of its own, that does the same. It prints both ids. */
const STUBBORN = `
const ignore = "process.on('SIGTERM', () => 0); setInterval(() => 0, 1000);";
const { spawn } = require("node:child_process");
const child = spawn(process.execPath, ["-e", ignore + "process.send('ready')"], { detached: true, stdio: ["ignore", "ignore", "ignore", "ipc"] });
eval(ignore);
child.on("message", () => console.log(process.pid + " " + child.pid));
`;

/** Events that a launcher has reported. */
class Events {
  readonly all: PartEvent[] = [];
  readonly add = (event: PartEvent): void => void this.all.push(event);

  of<K extends PartEvent["kind"]>(kind: K): Extract<PartEvent, { readonly kind: K }>[] {
    return this.all.filter((event): event is Extract<PartEvent, { readonly kind: K }> => event.kind === kind);
  }

  async until(kind: PartEvent["kind"], count: number): Promise<void> {
    const end = performance.now() + EVENT_MS;
    while (this.of(kind).length < count) {
      assert(
        performance.now() < end,
        `${this.of(kind).length} of ${count} events "${kind}" arrived within ${EVENT_MS / 1000} s.`,
      );
      await delay(20);
    }
  }
}

/** Returns a part that runs a program of Node. */
function part(program: string, rest: Partial<RunPart> = {}): RunPart {
  return { kind: "rollouts", command: [process.execPath, "-e", program], count: 1, ...rest };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function assertEnded(pids: readonly number[], what: string): Promise<void> {
  const end = performance.now() + EVENT_MS / 3;
  while (pids.some(isRunning) && performance.now() < end) await delay(20);
  assert.deepEqual(pids.filter(isRunning), [], what);
}

/** Checks of launchers. The last one stops the launcher. */
export const launcherChecks: readonly Check<Launcher>[] = [
  {
    code: "LAUNCHER_EVENTS_INVALID",
    name: "reports the start, the lines and the exit code of each process",
    run: async (launcher) => {
      const events = new Events();
      const program = "console.log('out', process.env.TESTED); console.error('err'); process.exitCode = 3";
      await launcher.start([part(program, { count: 2, env: { TESTED: "a b" } })], events.add);
      await events.until("ended", 2);
      const started = events.of("started").map(({ process: { id } }) => id);
      assert.equal(new Set(started).size, 2, `Two processes have the ids ${started.join(", ")}.`);
      for (const id of started) {
        const own = events.all.filter((event) => event.process.id === id);
        assert.match(id, /^rollouts-\d+$/);
        assert.deepEqual([own[0]?.kind, own.at(-1)?.kind], ["started", "ended"], "The first and the last event.");
        const lines = own.flatMap((event) => (event.kind === "output" ? [event.line] : []));
        assert.deepEqual(lines.toSorted(), ["err", "out a b"], "The printed lines.");
        const { process: about } = own[0] as PartEvent;
        assert(about.pid > 0 && about.node !== "" && about.kind === "rollouts", "Process id, machine and kind.");
      }
      const causes = events.of("ended").map(({ cause }) => cause);
      assert.deepEqual(causes, [
        { kind: "exit", code: 3 },
        { kind: "exit", code: 3 },
      ]);
    },
  },
  {
    code: "LAUNCHER_EVENTS_INVALID",
    name: "reports the signal that ended a process, and numbers processes over all calls",
    run: async (launcher) => {
      const events = new Events();
      await launcher.start(
        [part("setInterval(() => 0, 1000)", { kind: "store" }), part("0", { kind: "store" })],
        events.add,
      );
      await events.until("ended", 1);
      const [first, second] = events.of("started").map((event) => event.process);
      assert.notEqual(first?.id, second?.id);
      process.kill((first as { pid: number }).pid, "SIGKILL");
      await events.until("ended", 2);
      assert.deepEqual(events.of("ended")[1]?.cause, { kind: "signal", signal: "SIGKILL" });
      await launcher.start([part("0", { kind: "store" })], events.add);
      await events.until("ended", 3);
      const ids = events.of("started").map((event) => event.process.id);
      assert.equal(new Set(ids).size, 3, `Three processes have the ids ${ids.join(", ")}.`);
    },
  },
  {
    code: "LAUNCHER_START_ACCEPTED",
    name: "refuses a part whose program does not exist, and leaves nothing of the call",
    run: async (launcher) => {
      const events = new Events();
      const missing: RunPart = { kind: "rollouts", command: ["/no/such/program"], count: 1 };
      await expectCode(launcher.start([part("setInterval(() => 0, 1000)"), missing], events.add), "LAUNCHER_FAILED");
      await assertEnded(
        events.of("started").map((event) => event.process.pid),
        "Processes of the call run on.",
      );
    },
  },
  {
    code: "LAUNCHER_PROCESS_LEFT",
    name: "stop ends processes that ignore SIGTERM, and what they started",
    run: async (launcher) => {
      const events = new Events();
      await launcher.start([part(STUBBORN, { count: 2 }), part("setInterval(() => 0, 1000)")], events.add);
      await events.until("output", 2);
      const pids = events.of("output").flatMap(({ line }) => line.split(" ").map(Number));
      assert.equal(pids.filter(isRunning).length, 4);
      await launcher.stop(GRACE_MS);
      assert.equal(events.of("ended").length, 3, "stop waits for the last event.");
      await assertEnded(pids, "Processes run after stop.");
      const causes = events.of("ended").map(({ cause }) => (cause.kind === "signal" ? cause.signal : cause.kind));
      assert.deepEqual(causes.toSorted(), ["SIGKILL", "SIGKILL", "SIGTERM"]);
    },
  },
  {
    code: "LAUNCHER_START_ACCEPTED",
    name: "starts nothing after stop, which may be called again",
    run: async (launcher) => {
      await launcher.stop();
      await expectCode(
        launcher.start([part("0")], () => undefined),
        "LAUNCHER_FAILED",
      );
    },
  },
];
