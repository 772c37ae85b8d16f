import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { expectCode } from "../contract/expect-code.ts";
import { inWorkspace, textOf, type WorkspaceCheck } from "./workspace-check.ts";

/** Checks of shells. */
export const shellChecks: readonly WorkspaceCheck[] = [
  {
    code: "SANDBOX_SESSION",
    name: "a shell keeps its folder, variables and background jobs",
    run: (workspaces) =>
      inWorkspace(workspaces, { files: { "d/f": "file" } }, async (w) => {
        const shell = await w.shell();
        const results = [];
        for (const command of [
          "cd d; x='a b'",
          'cat f; echo "$x"; false',
          "echo 'open",
          "cat <<E\n$x\nE",
          "sleep 605 &",
          "kill -0 $! && echo runs",
        ])
          results.push(await shell.run(command));
        const shown = results.map(({ exitCode, output }) => [exitCode, textOf(output)]);
        assert.deepEqual(
          [shown[0], shown[1], shown[3], shown[5]],
          [
            [0, ""],
            [1, "filea b\n"],
            [0, "a b\n"],
            [0, "runs\n"],
          ],
        );
        assert.notEqual(shown[2]?.[0], 0);
        const last = await shell.run("exit 7");
        assert.deepEqual([last.exitCode, shell.hasEnded], [7, true]);
        await expectCode(shell.run("true"), "SESSION_NOT_FOUND");
        await shell.close();
      }),
  },
  {
    code: "SANDBOX_SESSION",
    name: "a program that asks times out with what it printed, and the shell continues",
    run: (workspaces) =>
      inWorkspace(workspaces, {}, async (w) => {
        const shell = await w.shell();
        await shell.run("x=1; sleep 606 &");
        const asks = await shell.run("printf 'Name? '; read n; echo $n", { timeoutMs: 1500 });
        assert.deepEqual([asks.timedOut, asks.exitCode], [true, null]);
        assert(textOf(asks.output)?.startsWith("Name? "), textOf(asks.output));
        assert.equal(textOf((await shell.run("read n; echo $n $x", { stdin: "word\n" })).output), "word 1\n");
        for (const endless of ["while :; do :; done", "sleep 607", "trap '' INT; sleep 608; sleep 0"])
          assert.equal((await shell.run(endless, { timeoutMs: 1500 })).timedOut, true, endless);
        assert.equal(textOf((await shell.run("kill -0 %1 && echo $x")).output), "1\n");
        const stop = new AbortController();
        const aborted = expectCode(shell.run("sleep 609", { signal: stop.signal }), "CANCELLED");
        await delay(100);
        stop.abort();
        await aborted;
        await shell.close();
      }),
  },
];
