// npm run test:faults -- workspaces: the programs of workspaces.faults.ts, started in ways by which they could have other rights.
import { describe, expect, test } from "@jest/globals";
import type { Workspace } from "@mrlm/spec";
import { combined, drawn, fixtureOf, none, text } from "./support/cases.ts";
import { ESCAPES } from "./support/escapes.ts";
import { missingJail } from "./support/missing-jail.ts";

const fixture = fixtureOf({ timeoutMs: 15_000 });
/** Programs that start `sh /workspace/program.sh`. */
const STARTS: Readonly<Record<string, string>> = {
  "a daemon whose parents have ended":
    "(setsid -f sh -c 'sh program.sh; echo END' > out 2>&1 < /dev/null); for i in $(seq 200); do grep -q END out && break; sleep 0.05; done; cat out",
  "a thread of Python":
    "python3 -c 'import os, threading as t; x = t.Thread(target=os.system, args=(\"sh program.sh\",)); x.start(); x.join()'",
  "a terminal": 'python3 -c \'import pty; pty.spawn(["sh", "program.sh"])\' < /dev/null',
  "the trap of an exit": "sh -c 'trap \"sh program.sh\" EXIT; exit 0'",
  "the handler of a signal": "sh -c 'trap \"sh program.sh\" USR1; kill -USR1 $$; sleep 0.1'",
  "a script in shared memory": "(echo '#!/bin/sh'; cat program.sh) > /dev/shm/s; chmod 777 /dev/shm/s; /dev/shm/s",
  "an empty environment": "env -i sh program.sh",
  "closed descriptors": "sh program.sh 0<&- 2>&- 3>&- 4>&- 5>&- 6>&-",
  "a folder that is removed": "mkdir gone; cd gone; rmdir ../gone; sh /workspace/program.sh",
  "other permissions of files": "umask 000; chmod 7777 program.sh; find . -name program.sh -exec sh {} \\;",
  "a stopped process": "sh -c 'kill -STOP $$; sh program.sh' & sleep 0.2; kill -CONT $!; wait",
  "a group of its own in a pipe": "true | setsid -w sh program.sh | cat",
};
const programs = Object.entries(ESCAPES);

async function ranBy(workspace: Workspace, start: string, way: "exec" | "shell" | "restored"): Promise<string> {
  if (way === "shell") return text((await (await workspace.shell()).run(start)).output);
  if (way === "restored") await workspace.restore(await workspace.snapshot());
  return text((await workspace.exec(start)).stdout);
}

(missingJail === undefined ? describe : describe.skip)(`escapes (${missingJail ?? "here"})`, () => {
  describe.each(Object.entries(STARTS))("started by %s", (name, start) => {
    const ways = combined(programs, ["exec", "shell", "restored"] as const);
    const cases = drawn(name).shuffle(ways).slice(0, 32);
    test(`${cases.length} programs that try to leave`, async () => {
      await none(cases, async ([[, program], way]) => {
        const workspace = await fixture.workspaces.open({
          files: { own: "own", "program.sh": `echo RAN\n${program.replaceAll("HOST/", `${fixture.host}/`)}` },
        });
        try {
          const output = await ranBy(workspace, start, way);
          expect(text((await workspace.exec("echo on")).stdout)).toBe("on\n");
          // A program that ends all others may end what prints its output.
          const isRun = output.includes("RAN") || program.includes("kill -9 -1");
          return /^THROUGH|of the host/m.test(output) || !isRun ? output : undefined;
        } finally {
          await workspace.close();
        }
      });
    }, 900_000);
  });
});
