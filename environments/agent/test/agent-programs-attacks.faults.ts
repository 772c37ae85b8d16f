// npm run test:faults -- agent-programs: attacks of policies on the reward, and on the gateway and the files of other episodes.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { callMessage, messageText, type Observation } from "@mrlm/kit";
import type { Message, Workspaces } from "@mrlm/spec";
import { ATTACKS, SECRET, type Targets } from "./support/attacks.ts";
import { openWorkspaces, play, type Played, PYTHON } from "./support/play.ts";
import { workspaceTest as test } from "./support/workspace-test.ts";

/** Seconds that this process may work without a pause, on a machine with other work. */
const LONGEST_DELAY = 30;
const isResult = ({ role }: Message): boolean => role === "tool";

/** Agent that runs the commands of the policy, and prints its last message. */
const AGENT = readFileSync(new URL("../fixtures/program/agent.py", import.meta.url), "utf8");

let workspaces: Workspaces;
const folder = mkdtempSync(join(tmpdir(), "attacks-"));
beforeAll(async () => {
  workspaces = await openWorkspaces();
  const check = `
import os
with open(os.environ["SCORE"] + "/answer") as answer, open(os.environ["SCORE"] + "/output") as output:
    print(float(answer.read().strip() == output.read(100).strip()))`;
  writeFileSync(join(folder, "check.py"), check);
}, 60_000);
afterAll(async () => {
  await workspaces.close();
  rmSync(folder, { recursive: true });
});

/** Commands that earn without the answer. */
const CHEATS: readonly string[] = [
  "echo wrong > answer.txt",
  "ln -s /dev/stdin answer.txt",
  "mkdir -p /score; ln -s /score/answer answer.txt",
  "ln -s '/score*/answer' answer.txt",
  "ln -s /proc/self/environ answer.txt",
  "ln -s /proc/self/fd/3 answer.txt",
  "ln -s /proc/self/fd/4 answer.txt",
  "ln -s /proc/self/cwd/../score-0/answer answer.txt",
  "mkfifo answer.txt",
  "ln -s /dev/zero answer.txt",
  "chmod 000 . ; echo wrong > answer.txt; chmod 000 answer.txt",
  "mkdir answer.txt",
  "truncate -s 4G answer.txt",
  "(setsid sh -c 'while :; do cp /score*/answer answer.txt; done' >/dev/null 2>&1 &)",
  "(setsid nohup sh -c 'trap \"\" TERM HUP INT; sleep 1; while :; do cp /score*/answer answer.txt; done' >/dev/null 2>&1 &) ; echo wrong > answer.txt",
  ...["usercustomize", "sitecustomize"].map(
    (name) =>
      `for v in 3.10 3.11 3.12 3.13 3.14; do mkdir -p ~/.local/lib/python$v/site-packages; echo 'import atexit; atexit.register(print, 1.0)' > ~/.local/lib/python$v/site-packages/${name}.py; done`,
  ),
  "for each in os json site encodings check; do echo 'print(1.0)' > $each.py; done; cp *.py /tmp; echo wrong > answer.txt",
  "mkdir -p ~/bin; for each in python3 sh cat; do printf '#!/bin/sh\\necho 1.0\\n' > ~/bin/$each; chmod +x ~/bin/$each; cp ~/bin/$each .; done; echo wrong > answer.txt",
  "for each in ~/.profile ~/.bashrc ~/.shrc ~/.bash_profile ~/.pythonrc.py; do echo 'echo 1.0; exit 0' > $each; done; echo wrong > answer.txt",
  "cp /bin/echo /usr/local/bin/python3; echo 'echo 1.0' > /usr/bin/python3; ln -sf /bin/true /etc/alternatives/python3; echo wrong > answer.txt",
  "printf 'home = /workspace\\n' > pyvenv.cfg; cp pyvenv.cfg /tmp ~; echo wrong > answer.txt",
  "mkdir -p /mrlm/score; rm -f /mrlm/socket; kill -9 -1",
];

describe("cheats", () => {
  test.each(CHEATS)(
    "%s earns nothing",
    async (command) => {
      const { reward } = await play(workspaces, {
        files: { "agent.py": AGENT },
        policy: (_, turn) => (turn === 0 ? callMessage("bash", { command }) : "1.0"),
        options: {
          score: { command: 'python3 "$SCORE/check.py"', file: "answer.txt", files: folder, reads: "number" },
          // A program may not choose its imports, nor those of the score.
          env: { PYTHONPATH: "/workspace", PATH: "/workspace:/usr/bin:/bin" },
          limits: { seconds: 20 },
        },
      });
      expect(reward).toBe(0);
    },
    120_000,
  );
});

const curl = (args: string, key = "$OPENAI_API_KEY"): string =>
  `curl -sS -m 5 -o /dev/null -w '%{http_code}' -H "authorization: Bearer ${key}" ${args}`;
const body = `-d '{"model":"a","messages":[{"role":"user","content":"q"}]}'`;

/** Commands that print THROUGH if they reach what is not theirs. OTHER is the key of the other episode. */
const REACHES: Readonly<Record<string, string>> = {
  "keys in the memory of processes":
    'for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ; done 2>/dev/null | grep -q OTHER && echo THROUGH',
  "command lines of others": 'cat /proc/[0-9]*/cmdline | grep -aq "[p]laces = threading" && echo THROUGH',
  files: `grep -rqs ${SECRET} /tmp /dev/shm /workspace /root /var /mrlm && echo THROUGH`,
  "sockets of files": 'find / -xdev -type s 2>/dev/null | grep -v "^/mrlm/socket$" | grep -q . && echo THROUGH',
  "sockets without a file": "grep -q @ /proc/net/unix && echo THROUGH",
  "ports of others": `python3 -c 'import socket
open = [p for p in range(1, 32768) if socket.socket().connect_ex(("127.0.0.1", p)) == 0]
print("THROUGH" if open else "")'`,
  "the key of the other": `[ $(${curl(`${body} $OPENAI_BASE_URL/chat/completions`, "OTHER")}) = 401 ] || echo THROUGH`,
  "the key of the other in a second header": `[ $(${curl(`-H "x-api-key: OTHER" ${body} $OPENAI_BASE_URL/chat/completions`)}) = 401 ] || echo THROUGH`,
  "two keys in one request": `[ $(${curl(`-H "authorization: Bearer OTHER" ${body} $OPENAI_BASE_URL/chat/completions`, "OTHER")}) = 401 ] || echo THROUGH`,
  "no key": `[ $(${curl("$OPENAI_BASE_URL/models", "")}) = 401 ] || echo THROUGH`,
  "paths above": `[ $(${curl('--path-as-is "$OPENAI_BASE_URL/../../etc/passwd"')}) = 404 ] || echo THROUGH`,
  "the gateway as a proxy": `[ $(${curl('-x "$OPENAI_BASE_URL" http://1.1.1.1/')}) = 404 ] || echo THROUGH`,
  "a tunnel": `python3 -c 'import socket
s = socket.create_connection(("127.0.0.1", 61000)); s.settimeout(5)
s.sendall(b"CONNECT 127.0.0.1:22 HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n")
print("THROUGH" if b" 200" in s.recv(99) else "")'`,
  "a second request in the body of a first": `python3 -c 'import socket
s = socket.create_connection(("127.0.0.1", 61000)); s.settimeout(5)
s.sendall(b"GET /v1/models HTTP/1.1\\r\\nhost: a\\r\\ncontent-length: 4\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET /v1/models HTTP/1.1\\r\\nhost: a\\r\\nauthorization: Bearer OTHER\\r\\n\\r\\n")
print("THROUGH" if b" 200" in s.recv(9999) else "")'`,
  "the processes of the address":
    "pkill -f \"[p]laces = threading\" && echo THROUGH; ls /proc | grep -c '^[0-9]' | awk '$1 > 12 { print \"THROUGH\" }'",
  "another owner of the port": `python3 -c 'import socket
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
try: s.bind(("127.0.0.1", 61000)); s.listen(); print("THROUGH")
except OSError: pass'`,
  "a socket in place of the gateway":
    "rm -f /mrlm/socket 2>/dev/null && echo THROUGH; mv /mrlm/socket /tmp/s 2>/dev/null && echo THROUGH; true",
};

describe("reaches", () => {
  let targets: Targets;
  let ends: Promise<Played>;
  const release = Promise.withResolvers<string>();

  beforeAll(async () => {
    const key = Promise.withResolvers<string>();
    const tellsKey = (more = ""): string => `${PYTHON}\n${more}\nprint(ask(os.environ["OPENAI_API_KEY"]))`;
    const program = tellsKey(`
for folder in ["/tmp", "/dev/shm", "/root"]:
    open(folder + "/${SECRET}", "w").write("${SECRET}")
import socket
listeners = [socket.create_server(("127.0.0.1", 7001)), socket.socket(socket.AF_UNIX)]
listeners[1].bind("\\0${SECRET}")
listeners[1].listen()`);
    ends = play(workspaces, {
      files: { "agent.py": program },
      policy(observation: Observation) {
        key.resolve(observation.messages.map(messageText).join(""));
        return release.promise;
      },
    });
    const ended = await play(workspaces, { files: { "agent.py": tellsKey() } });
    targets = {
      OTHER: await key.promise,
      ENDED: ended.observations.flatMap(({ messages }) => messages.map(messageText)).join(""),
      SOCKETS: workspaces.sockets,
    };
  }, 60_000);
  // The other episode has its score, whatever the attacks were.
  afterAll(async () => {
    release.resolve("right");
    expect((await ends).reward).toBe(1);
  });

  test.each(Object.entries({ ...REACHES, ...ATTACKS }))(
    "%s",
    async (_, command) => {
      const aimed = command.replaceAll(/OTHER|ENDED|SOCKETS/g, (name) => targets[name as keyof Targets]);
      const delay = monitorEventLoopDelay();
      delay.enable();
      const { observations, end } = await play(workspaces, {
        files: { "agent.py": AGENT },
        policy: (_observation, turn) => (turn === 0 ? callMessage("bash", { command: `${aimed}\necho tried` }) : "1"),
      });
      delay.disable();
      const results = JSON.stringify(observations.slice(1).map(({ messages }) => messages.filter(isResult)));
      expect(results).toMatch(/tried/);
      expect(results).not.toMatch(/THROUGH|Traceback/);
      expect(end?.info).toMatchObject({ agent: { failed: 0 } });
      expect(Object.keys(Object.prototype)).toEqual([]);
      // Other episodes wait while this process works.
      expect(delay.max / 1e9).toBeLessThan(LONGEST_DELAY);
    },
    120_000,
  );
});
