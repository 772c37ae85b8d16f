import assert from "node:assert/strict";
import { inWorkspace, textOf, type WorkspaceCheck } from "./workspace-check.ts";

const MEGABYTE = 2 ** 20;

/** Checks of limits: each is named, and the workspace continues. */
export const limitChecks: readonly WorkspaceCheck[] = [
  {
    code: "SANDBOX_LIMIT",
    name: "processor time, memory and processes end a command, and a shell",
    run: (workspaces) =>
      inWorkspace(workspaces, { limits: { cpuMs: 700, memoryBytes: 64 * MEGABYTE, processes: 20 } }, async (w) => {
        const programs = {
          cpu: "while :; do /bin/true; done",
          memory: 'x=xxxxxxxxxxxxxxxx; while :; do x="$x$x"; done',
          processes: "f() { f | f & f; }; f",
        };
        for (const [limit, program] of Object.entries(programs)) {
          const result = await w.exec(program);
          assert.deepEqual([result.limit, result.exitCode, result.timedOut], [limit, null, false], limit);
          const shell = await w.shell();
          const run = await shell.run(program);
          assert.deepEqual([run.limit, run.exitCode, shell.hasEnded], [limit, null, true], limit);
          await shell.close();
        }
        assert.equal(textOf((await w.exec("echo on")).stdout), "on\n");
      }),
  },
  {
    code: "SANDBOX_LIMIT",
    name: "the size of a file and of all files is limited",
    run: (workspaces) =>
      inWorkspace(workspaces, { limits: { fileBytes: MEGABYTE, diskBytes: 8 * MEGABYTE } }, async (w) => {
        const file = await w.exec("exec head -c 2000000 /dev/zero > large");
        assert.deepEqual([file.limit, (await w.list("."))?.[0]?.bytes], ["file-size", MEGABYTE]);
        const disk = await w.exec(
          "for i in 1 2 3 4 5 6 7 8 9 10; do head -c 1000000 /dev/zero > /tmp/$i; done; echo $?",
        );
        assert.deepEqual([disk.limit, textOf(disk.stdout)], ["disk", "1\n"]);
        const freed = await w.exec("rm /tmp/*; echo on > f; cat f");
        assert.deepEqual([freed.limit, textOf(freed.stdout)], [undefined, "on\n"]);
      }),
  },
];
