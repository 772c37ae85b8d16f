// npm run test:faults -- workspaces: aborts, closes and kills of single processes in each state of a workspace.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { type ErrorCode, MrlmError, type Workspace } from "@mrlm/spec";
import { combined, drawn, fixtureOf, none, nothingLeft, SLEEP, text } from "./support/cases.ts";
import { missingJail } from "./support/missing-jail.ts";

const fixture = fixtureOf();
/** Longest time until a call settles. It is far above what a loaded machine needs, so that only one that never settles is a fault. */
const SETTLES_MS = 60_000;
const FILES = {
  "a/b": "text",
  own: "own",
  "work.py": "import hashlib\nfor i in range(10**9): hashlib.sha256(b'x' * 4096).digest()\n",
};

/** Calls that are under way when something happens. Each runs until it is stopped, or for a moment. */
const STATES: Readonly<Record<string, (workspace: Workspace, signal: AbortSignal) => Promise<unknown>>> = {
  "a command that sleeps": (w, signal) => w.exec(`sleep ${SLEEP}`, { signal }),
  "a command that computes": (w, signal) => w.exec("python3 work.py", { signal }),
  "a command that prints": (w, signal) => w.exec("yes", { signal, onOutput: () => undefined }),
  "a command that reads its input": (w, signal) =>
    w.exec(`cat > f; sleep ${SLEEP}`, { signal, stdin: "x".repeat(2e6) }),
  "a stopped command": (w, signal) => w.exec(`sleep ${SLEEP} & kill -STOP $! $$`, { signal }),
  "a command with daemons": (w, signal) =>
    w.exec(
      `for i in 1 2 3; do setsid -f sh -c 'trap "" TERM INT HUP; sleep ${SLEEP}; sleep ${SLEEP}'; done; sleep ${SLEEP}`,
      { signal },
    ),
  "a command that writes files": (w, signal) =>
    w.exec("while :; do for i in 1 2 3 4 5 6 7 8 9; do head -c 300000 /dev/zero > /tmp/$i; done; rm /tmp/*; done", {
      signal,
    }),
  "a command that ends": (w, signal) => w.exec("true", { signal }),
  "a shell": async (w, signal) => (await w.shell()).run(`sleep ${SLEEP}`, { signal }),
  "a shell with jobs that ignore signals": async (w, signal) => {
    const shell = await w.shell();
    await shell.run(`(trap '' INT TERM HUP; sleep ${SLEEP}; sleep ${SLEEP}) & disown`);
    return shell.run(`trap '' INT; while :; do sleep ${SLEEP}; done`, { signal });
  },
  "a shell that prints": async (w, signal) => (await w.shell()).run("yes", { signal }),
  "a shell that starts": (w) => w.shell(),
  "two commands and a shell": async (w, signal) =>
    Promise.allSettled([
      w.exec(`sleep ${SLEEP}`, { signal }),
      w.exec("yes", { signal }),
      w.shell().then((shell) => shell.run(`sleep ${SLEEP}`, { signal })),
    ]),
  "a snapshot": (w) => w.snapshot(),
  "a restore": async (w) => w.restore(await w.snapshot()),
  "a restore under a command": async (w, signal) => {
    const name = await w.snapshot();
    await Promise.allSettled([w.exec(`sleep ${SLEEP}`, { signal }), delay(20).then(() => w.restore(name))]);
  },
};
const MOMENTS_MS = [0, 3, 10, 30, 80, 200] as const;
const states = Object.entries(STATES);

/** Waits for a call. An error has one of the codes that callers expect. */
async function settled(call: Promise<unknown>, codes: readonly ErrorCode[]): Promise<void> {
  const late = new AbortController();
  const never = delay(SETTLES_MS, "never", { signal: late.signal }).catch(() => undefined);
  const end = call.then(
    () => undefined,
    (error: unknown) => {
      if (!codes.some((code) => MrlmError.hasCode(error, code))) throw error;
    },
  );
  expect(await Promise.race([end, never])).toBeUndefined();
  late.abort();
}

async function works(workspace: Workspace): Promise<void> {
  const { exitCode, stdout } = await workspace.exec("cat own && echo on");
  expect([exitCode, text(stdout)]).toEqual([0, "ownon\n"]);
}

/** Returns the processes that this process has started, and their descendants. */
function ownProcesses(): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      const [, , ppid] = readFileSync(`/proc/${name}/stat`, "latin1")
        .replace(/\(.*\)/s, "x")
        .split(" ");
      parents.set(Number(name), Number(ppid));
    } catch {
      // It has ended.
    }
  }
  const isOwn = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === process.pid || isOwn(parents.get(pid)));
  return [...parents.keys()].filter((pid) => pid !== process.pid && isOwn(pid));
}

(missingJail === undefined ? describe : describe.skip)(`kills (${missingJail ?? "here"})`, () => {
  afterEach(nothingLeft, 120_000);

  const aborts = combined(states, MOMENTS_MS);
  test(`${aborts.length} aborts`, async () => {
    await none(aborts, async ([[, call], moment]) => {
      const workspace = await fixture.workspaces.open({ files: FILES });
      const stop = new AbortController();
      try {
        const started = call(workspace, stop.signal);
        started.catch(() => undefined);
        await delay(moment);
        stop.abort();
        // A call that takes no signal runs to its end.
        await delay(20);
        await settled(started, ["CANCELLED"]);
        await works(workspace);
        return undefined;
      } finally {
        await workspace.close();
      }
    });
  }, 900_000);

  const closes = combined(states, MOMENTS_MS);
  test(`${closes.length} closes`, async () => {
    await none(closes, async ([[, call], moment]) => {
      const workspace = await fixture.workspaces.open({ files: FILES });
      const started = call(workspace, new AbortController().signal);
      started.catch(() => undefined);
      await delay(moment);
      await settled(workspace.close(), []);
      await settled(started, ["SESSION_NOT_FOUND", "SANDBOX_FAILED"]);
      await settled(workspace.exec("true"), ["SESSION_NOT_FOUND"]);
      return undefined;
    });
  }, 900_000);

  const random = drawn("kills");
  const kills = random.shuffle(combined(states, [0, 1, 2, 3, 4, 5, 6], MOMENTS_MS.slice(1))).slice(0, 100);
  test(`${kills.length} kills of a process from outside`, async () => {
    // One at a time: the processes of this one are those of the case.
    const complaints: unknown[] = [];
    const before = new Set(ownProcesses());
    const other = await fixture.workspaces.open({ files: FILES });
    for (const [[name, call], victim, moment] of kills) {
      const kept = new Set(ownProcesses());
      const workspace = await fixture.workspaces.open({ files: FILES });
      const stop = new AbortController();
      try {
        const started = call(workspace, stop.signal);
        started.catch(() => undefined);
        await delay(moment);
        const pids = ownProcesses().filter((pid) => !kept.has(pid));
        const pid = pids[victim % Math.max(1, pids.length)];
        if (pid !== undefined && readFileSync(`/proc/${pid}/cmdline`, "latin1") !== "") process.kill(pid, "SIGKILL");
        await delay(20);
        stop.abort();
        await settled(started, ["CANCELLED", "SANDBOX_FAILED", "SESSION_NOT_FOUND"]);
        await settled(workspace.exec("echo on"), ["SANDBOX_FAILED"]);
        await settled(workspace.readFile("own"), ["SANDBOX_FAILED"]);
      } catch (error) {
        if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? ""))
          complaints.push([name, victim, moment, String((error as Error).stack)]);
      } finally {
        await settled(workspace.close(), []);
      }
      await works(other);
    }
    await other.close();
    expect(complaints).toEqual([]);
    while (ownProcesses().some((pid) => !before.has(pid))) await delay(20);
  }, 900_000);

  const insiders = combined(
    [
      "-9 1",
      "-9 -1",
      "-STOP -1",
      "-9 $PPID",
      "-9 -$$",
      "-SEGV $$",
      "-9 $(ps -eo pid= 2>/dev/null || ls /proc | grep '^[0-9]')",
    ],
    ["exec", "shell"] as const,
    ["alone", "with jobs"] as const,
  );
  test(`${insiders.length} kills from inside`, async () => {
    await none(insiders, async ([target, way, how]) => {
      const workspace = await fixture.workspaces.open({ files: FILES });
      try {
        const program = `${how === "alone" ? "" : `sleep ${SLEEP} & setsid -f sleep ${SLEEP}; `}kill ${target}; exit 3`;
        const options = { timeoutMs: 3000 };
        await settled(
          way === "exec"
            ? workspace.exec(program, options)
            : workspace.shell().then((shell) => shell.run(program, options)),
          ["SANDBOX_FAILED"],
        );
        await works(workspace);
        return undefined;
      } finally {
        await workspace.close();
      }
    });
  }, 900_000);
});
