import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { messageText } from "@mrlm/kit";
import type { Workspaces } from "@mrlm/spec";
import { openWorkspaces, play, PYTHON, textsOf } from "./support/play.ts";
import { workspaceTest as test } from "./support/workspace-test.ts";

let workspaces: Workspaces;
beforeAll(async () => void (workspaces = await openWorkspaces()), 60_000);
afterAll(() => workspaces.close());

/** Leaves marks under its name, exchanges keys with the other program, and reports what it can read when both have done so. */
const CURIOUS = `${PYTHON}
import socket, threading
name = sys.stdin.read()
for folder in ["/tmp", "/dev/shm", "/workspace", "/root"]:
    open(folder + "/" + name, "w").close()
def serve(listener):
    while True:
        listener.accept()[0].sendall(name.encode())
for family, address in [(socket.AF_INET, ("127.0.0.1", 7000)), (socket.AF_UNIX, "\\0mark")]:
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen()
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
other = ask("key " + os.environ["OPENAI_API_KEY"])
def seen(family, address):
    try:
        with socket.socket(family) as client:
            client.settimeout(5)
            client.connect(address)
            return client.recv(9).decode()
    except OSError as error:
        return "none"
print(json.dumps({
    "files": sorted(each for folder in ["/tmp", "/dev/shm", "/workspace", "/root"] for each in os.listdir(folder) if each.startswith("mark")),
    "processes": sorted({open("/proc/%s/comm" % each).read().strip() for each in os.listdir("/proc") if each.isdigit()}),
    "port": seen(socket.AF_INET, ("127.0.0.1", 7000)),
    "abstract": seen(socket.AF_UNIX, "\\0mark"),
    "network": seen(socket.AF_INET, ("1.1.1.1", 80)),
    "sockets": os.listdir("/mrlm"),
    "keys": [status("a", key=other), status("a", key=""), status("a", key="mrlm-" + "0" * 48), status(key=other, path="/responses")],
}))
ask("end")
`;

test("two episodes at once see nothing of each other, and the keys of others are refused", async () => {
  const keys: PromiseWithResolvers<string>[] = [Promise.withResolvers(), Promise.withResolvers()];
  const played = await Promise.all(
    keys.map((_, own) =>
      play(workspaces, {
        files: { "agent.py": CURIOUS },
        options: {
          command: `echo -n mark${own} | python3 agent.py`,
          score: { command: 'cat "$SCORE/output"; exit 127' },
        },
        async policy({ messages }) {
          const [, key] = messages.map(messageText).join("").split(" ");
          if (key === undefined) return "end";
          keys[own]?.resolve(key);
          return (keys[1 - own] as PromiseWithResolvers<string>).promise;
        },
      }),
    ),
  );
  for (const [own, each] of played.entries()) {
    expect(textsOf(each)).toEqual([expect.stringMatching(/^key mrlm-/), "end"]);
    const mark = `mark${own}`;
    expect(JSON.parse(/\{.*\}/.exec(String(each.reward))?.[0] ?? String(each.reward))).toEqual({
      files: [mark, mark, mark, mark],
      processes: ["bwrap", "python3", "sh"],
      ...{ port: mark, abstract: mark, network: "none" },
      sockets: ["socket"],
      keys: [401, 401, 401, 401],
    });
  }
  expect(readdirSync(workspaces.sockets)).toEqual([]);
});

test("a process that a program leaves ends with it, and calls no longer", async () => {
  const files = {
    "agent.py": `${PYTHON}\nask("a")\nif os.fork() == 0:\n    os.setsid()\n    while True: status("b")\nprint("right")`,
  };
  const { observations, reward } = await play(workspaces, { files });
  expect([observations.length > 0, reward]).toEqual([true, 1]);
  expect(readdirSync(workspaces.sockets)).toEqual([]);
});
