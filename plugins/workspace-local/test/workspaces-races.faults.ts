// npm run test:faults -- workspaces: files are read, written and listed while a program exchanges parts of their paths for links that lead out.
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import type { Workspace } from "@mrlm/spec";
import { combined, drawn, fixtureOf, none, text } from "./support/cases.ts";
import { missingJail } from "./support/missing-jail.ts";

const fixture = fixtureOf();
/** Links that replace a folder; TARGET is a folder of the host. */
const TARGETS: Readonly<Record<string, string>> = {
  "an absolute link": "TARGET",
  "a link with many parents": "../../../../../../../../..TARGET",
  "a link through its own root": "/proc/self/root/TARGET",
  "a link through process 1": "/proc/1/root/TARGET",
  "a link through a working directory": "/proc/self/cwd/../../../..TARGET",
  "a link to the root": "/",
};
/** Statements that exchange `p` (a folder with the file `marker`) and `q` (the link) by a system call. */
const WAYS: Readonly<Record<string, string>> = {
  "two renames": "os.rename(p, b); os.rename(q, p); os.rename(p, q); os.rename(b, p)",
  "one exchange": "libc.renameat2(-100, p.encode(), -100, q.encode(), 2)",
  "a new link": "os.rename(p, b); os.symlink(t, p); os.remove(p); os.rename(b, p)",
  "a file in between":
    "os.rename(p, b); open(p, 'w').close(); os.remove(p); os.symlink(t, p); os.remove(p); os.rename(b, p)",
  "a pipe in between": "os.rename(p, b); os.mkfifo(p); os.remove(p); os.symlink(t, p); os.remove(p); os.rename(b, p)",
  "a folder that moves up and down":
    "os.rename(p, '/workspace/b'); os.symlink(t, p); os.remove(p); os.rename('/workspace/b', p)",
  "links of links":
    "os.rename(p, b); os.symlink('q', p); os.remove(p); os.rename(b, p); os.symlink(t, q + '2'); os.replace(q + '2', q)",
};
/** Places of the exchange: the part of the path, and the file in it. */
const PLACES: Readonly<Record<string, readonly [part: string, file: string]>> = {
  "the first folder": ["/workspace/p", "p/marker"],
  "a folder in between": ["/workspace/x/p", "/workspace/x/p/marker"],
  "a folder of many": ["/workspace/x/y/z/p", "x/y/../y/z/./p/marker"],
  "a folder behind a link": ["/workspace/x/p", "l/p/marker"],
  "a folder of another root folder": ["/var/p", "/workspace/../var/p/marker"],
};
const ACCESSES = ["readFile", "writeFile", "list"] as const;
const EXCHANGES = 6000;

function program(part: string, way: string, target: string): string {
  return `
import ctypes, os
libc = ctypes.CDLL(None)
p, q, b, t = ${JSON.stringify(part)}, ${JSON.stringify(`${part.slice(0, -1)}q`)}, ${JSON.stringify(`${part}-before`)}, ${JSON.stringify(target)}
os.makedirs(p, exist_ok=True)
os.path.lexists('/workspace/l') or os.symlink('x', '/workspace/l')
open(p + '/marker', 'w').write('own')
os.symlink(t, q)
print('ready', flush=True)
for _ in range(${EXCHANGES}):
    try:
        ${way}
    except OSError:
        pass
`;
}

/** Returns what a call saw of the host, if anything. */
async function access(workspace: Workspace, how: (typeof ACCESSES)[number], path: string): Promise<string | undefined> {
  if (how === "writeFile")
    await workspace
      .writeFile(path, "written")
      .catch((error: unknown) => expect(error).toMatchObject({ code: "DATA_INVALID" }));
  if (how === "readFile") {
    const read = text(await workspace.readFile(path));
    if (!["", "own", "written"].includes(read)) return `read ${read}`;
  }
  if (how !== "list") return undefined;
  const names = ((await workspace.list(path.replace("/marker", ""))) ?? []).map(({ name }) => name);
  const foreign = names.filter((name) => ["cgroup", "boot", "lib64", "sbin", "media"].includes(name));
  return foreign.length > 0 ? `listed ${foreign.join(" ")}` : undefined;
}

(missingJail === undefined ? describe : describe.skip)(`races (${missingJail ?? "here"})`, () => {
  describe.each(Object.entries(WAYS))("by %s", (name, way) => {
    const cases = drawn(name)
      .shuffle(combined(Object.values(TARGETS), Object.entries(PLACES), ACCESSES))
      .slice(0, 36);
    test(`${cases.length} exchanges of a part of a path`, async () => {
      await none(cases, async ([target, [, [part, path]], how]) => {
        const workspace = await fixture.workspaces.open();
        try {
          let isReady = false;
          const done = workspace.exec("exec python3 -", {
            stdin: program(part, way, target.replace("TARGET", fixture.host)),
            onOutput: () => (isReady = true),
          });
          const over = new AbortController();
          void done.finally(() => over.abort());
          let count = 0;
          while (!over.signal.aborted) {
            await setImmediate();
            if (!isReady) continue;
            count++;
            const seen = await access(workspace, how, path);
            if (seen !== undefined) return seen;
          }
          expect((await done).exitCode).toBe(0);
          return count > 0 ? undefined : "no access during the exchanges";
        } finally {
          await workspace.close();
        }
      });
    }, 900_000);
  });
});
