// npm run test:faults -- agent-programs: programs, hosts and workspaces with faults. Each episode ends as it should, and leaves nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { type JsonObject, MrlmError, randomStream } from "@mrlm/kit";
import type { Workspaces } from "@mrlm/spec";
import { type Case, openWorkspaces, play, PYTHON } from "./support/play.ts";
import { descendantsOf } from "./support/processes.ts";
import { workspaceTest as test } from "./support/workspace-test.ts";

/** Episodes of each program. */
const TIMES = 60;
const AT_ONCE = 12;
const KILLS = 5;
const SERVER = fileURLToPath(new URL("support/killed-server.ts", import.meta.url));
const LIMITS = { calls: 20, seconds: 60 };

/** Sockets of programs: `connected` opens one to the address of the model, `sent` sends a request and leaves it open. */
const SOCKETS = `
import random, signal, socket
def connected():
    return socket.create_connection(("127.0.0.1", 61000))
def sent(stream=False):
    body = json.dumps({"model": "agent", "stream": stream, "messages": [{"role": "user", "content": "half"}]})
    client = connected()
    client.sendall(("POST /v1/chat/completions HTTP/1.1\\r\\nhost: a\\r\\nauthorization: Bearer %s\\r\\ncontent-length: %d\\r\\n\\r\\n%s" % (os.environ["OPENAI_API_KEY"], len(body), body)).encode())
    return client
def fork(work):
    if os.fork() == 0:
        work()
        os._exit(0)
`;
const END = "ask('b'); print('right')";
const FOREVER = "time.sleep(600)";

/** Programs by their fault, with the outcome: the code of a failed reset, or the kind of the end and the reward. */
const FAULTS: Readonly<Record<string, readonly [outcome: string, body: string, options?: JsonObject]>> = {
  "ends before a call": ["AGENT_FAILED", "print('none')"],
  "is killed before a call": ["AGENT_FAILED", "os.kill(os.getpid(), 9)"],
  "is killed": ["failed 0", "ask('a'); os.kill(os.getpid(), 9)"],
  "kills every process": ["failed 0", "ask('a'); os.kill(-1, 9)"],
  crashes: ["failed 0", "ask('a'); [].pop()"],
  hangs: ["limited 0", `ask('a'); ${FOREVER}`, { limits: { ...LIMITS, seconds: 5 } }],
  "stops itself": [
    "limited 0",
    "ask('a'); os.kill(os.getpid(), signal.SIGSTOP)",
    { limits: { ...LIMITS, seconds: 5 } },
  ],
  "ignores signals": [
    "limited 0",
    `ask('a'); [signal.signal(each, signal.SIG_IGN) for each in range(1, 32) if each not in (9, 19)]; ${FOREVER}`,
    { limits: { ...LIMITS, seconds: 5 } },
  ],
  "makes too many calls": ["limited 0", "while True: status('a')"],
  "sends another key without end": ["limited 0", "ask('a')\nwhile True: status('a', key='mrlm-other')"],
  "leaves daemons": [
    "returned 1",
    `for i in range(5): fork(lambda: (os.setsid(), fork(lambda: ${FOREVER}), ${FOREVER}))\n${END}`,
  ],
  "leaves a daemon that calls": [
    "returned 1",
    `${END}\ndef again():\n    os.setsid()\n    while True: time.sleep(0.2); status("c")\nfork(again)`,
  ],
  "starts too many processes": [
    "failed 0",
    `ask('a')\nfor i in range(60): fork(lambda: ${FOREVER})\n${FOREVER}`,
    { workspace: { processes: 32 } },
  ],
  "takes too much memory": [
    "failed 0",
    `ask('a'); x = bytearray(300_000_000); ${FOREVER}`,
    { workspace: { memory_mb: 128 } },
  ],
  "takes memory of the kernel": [
    "failed 0",
    `ask('a')\nfor i in range(9): fork(lambda: (([socket.socketpair() for i in range(450)]), ${FOREVER}))\n${FOREVER}`,
    { workspace: { memory_mb: 1024 } },
  ],
  "floods its output": [
    "returned 1",
    `for i in range(3000): print("x" * 10_000); print("y" * 10_000, file=sys.stderr)\n${END}`,
  ],
  "fills the disk": [
    "returned 0",
    `ask('a')\ntry:\n    with open("f", "wb", 0) as f:\n        while True: f.write(bytes(1 << 20))\nexcept OSError: pass\nprint("right")`,
    { workspace: { disk_mb: 16 } },
  ],
  "removes its files": [
    "returned 1",
    `subprocess.run("rm -rf /workspace/* /tmp /root /var", shell=True, stderr=-3); ${END}`,
  ],
  "holds connections": ["returned 1", `held = [connected() for i in range(300)]; ${END}`],
  "sends what is no request": [
    "returned 1",
    `for i in range(20): connected().sendall(random.randbytes(1000) + b"\\r\\n\\r\\n")\n${END}`,
  ],
  "leaves its calls": ["returned 1", `for i in range(4): sent().close(); time.sleep(random.random() / 20)\n${END}`],
  "reads half a stream": [
    "returned 1",
    `for i in range(3):\n    client = sent(True); client.recv(20); client.close()\n${END}`,
  ],
  "takes the port": [
    "returned 1",
    `try: socket.socket().bind(("127.0.0.1", 61000)); print("free")\nexcept OSError: pass\n${END}`,
  ],
  "uses another key": ["returned 1", `assert status("a", key="mrlm-other") == 401; ${END}`],
};
const SCORE = { command: 'tail -n 1 "$SCORE/output" | grep -qx right' };

let workspaces: Workspaces;
let before: number;

async function outcomeOf(
  body: string,
  options: JsonObject = {},
  more: Pick<Case, "closes" | "closesAfterMs"> = {},
): Promise<string> {
  try {
    const { end, reward } = await play(workspaces, {
      files: { "agent.py": `${PYTHON}${SOCKETS}\n${body}` },
      options: { score: SCORE, limits: LIMITS, ...options },
      ...more,
    });
    if (end === undefined) return "closed";
    const counts = end.info?.["agent"] as Readonly<Record<string, number>>;
    return `${counts["failed"] ? "failed" : counts["limited"] ? "limited" : "returned"} ${reward}`;
  } catch (error) {
    return MrlmError.isInstance(error) ? error.code : String(error);
  }
}

/** Plays the cases, and returns those with another outcome. */
async function wrong(cases: readonly (() => Promise<[actual: string, expected: string]>)[]): Promise<string[]> {
  const found: string[] = [];
  let next = 0;
  const player = async (): Promise<void> => {
    while (next < cases.length) {
      const at = next++;
      const [actual, expected] = await (cases[at] as (typeof cases)[number])();
      if (actual !== expected) found.push(`case ${at}: ${actual}, not ${expected}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, player));
  return found;
}

/** Waits until no process and no socket of an episode is left. */
async function nothingLeft(): Promise<void> {
  const left = (): unknown[] => {
    const processes = descendantsOf(process.pid);
    return [...(processes.length > before ? processes : []), ...readdirSync(workspaces.sockets)];
  };
  for (let waits = 0; waits < 200 && left().length > 0; waits++) await sleep(25);
  expect(left()).toEqual([]);
}

beforeAll(async () => {
  workspaces = await openWorkspaces({ workspaces: AT_ONCE });
  await outcomeOf("ask('a')");
  before = descendantsOf(process.pid).length;
}, 120_000);
afterAll(() => workspaces.close());

describe("programs", () => {
  test.each(Object.entries(FAULTS))(
    `one that %s, ${TIMES} times`,
    async (_, [expected, body, options]) => {
      const cases = Array.from({ length: TIMES }, () => async (): Promise<[string, string]> => [
        await outcomeOf(body, options),
        expected,
      ]);
      expect(await wrong(cases)).toEqual([]);
      await nothingLeft();
    },
    600_000,
  );
});

test(`${TIMES * 3} sessions that are closed between two calls`, async () => {
  const random = randomStream("closes", 1);
  const bodies = [`while True: ask('a')`, `for i in range(9): fork(lambda: ${FOREVER})\nwhile True: ask('a')`];
  const cases = Array.from({ length: TIMES * 3 }, (_, at) => async (): Promise<[string, string]> => {
    const turn = random.integer(0, 4);
    return [await outcomeOf(bodies[at % 2] as string, {}, { closes: (each) => each === turn }), "closed"];
  });
  expect(await wrong(cases)).toEqual([]);
  await nothingLeft();
}, 600_000);

test(`${TIMES * 3} sessions that are closed while they work`, async () => {
  const random = randomStream("closes", 2);
  const cases = Array.from({ length: TIMES * 3 }, () => async (): Promise<[string, string]> => {
    const closesAfterMs = random.integer(0, 800);
    const outcome = await outcomeOf(`fork(lambda: ${FOREVER})\nwhile True: ask('a')`, {}, { closesAfterMs });
    return [["CANCELLED", "AGENT_LISTEN_FAILED", "SESSION_NOT_FOUND"].includes(outcome) ? "closed" : outcome, "closed"];
  });
  expect(await wrong(cases)).toEqual([]);
  await nothingLeft();
}, 600_000);

/** Processes that a fault of the host ends while a program runs, by a part of their commands, and the code of the step. */
const LOST: Readonly<Record<string, RegExp>> = {
  "the jail of the program": /bwrap.*agent\.py/,
  "the jail of the address": /bwrap[^]*places = threading/,
};

describe("faults of the host", () => {
  test.each(Object.entries(LOST))(
    `%s is killed, ${TIMES} times: unscored`,
    async (_, pattern) => {
      for (let i = 0; i < TIMES; i++) {
        const body = `ask('a'); ask('b'); ${FOREVER}`;
        const kill = (turn: number): boolean => {
          if (turn !== 1) return false;
          for (const { pid, command } of descendantsOf(process.pid)) if (pattern.test(command)) process.kill(pid, 9);
          return false;
        };
        expect(await outcomeOf(body, {}, { closes: kill })).toBe("SANDBOX_FAILED");
      }
      await nothingLeft();
    },
    600_000,
  );

  test(`a server with eight programs is killed, ${KILLS} times`, async () => {
    for (let i = 0; i < KILLS; i++) {
      const folder = mkdtempSync(join(tmpdir(), "killed-"));
      const args = ["--conditions=mrlm-source", "--no-warnings", SERVER];
      const server = spawn(process.execPath, args, {
        env: { ...process.env, NODE_OPTIONS: "", TMPDIR: folder },
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(server.stdout, "data");
      const processes = descendantsOf(server.pid as number);
      expect(processes.filter(({ command }) => command.includes("agent.py")).length).toBeGreaterThan(16);
      server.kill("SIGKILL");
      const left = (): unknown[] => [
        ...processes.filter(({ pid }) => existsSync(`/proc/${pid}/exe`)),
        ...readdirSync(folder).filter((name) => name.startsWith("mrlm-")),
      ];
      for (let waits = 0; waits < 400 && left().length > 0; waits++) await sleep(25);
      expect(left()).toEqual([]);
      rmSync(folder, { recursive: true });
    }
  }, 600_000);
});
