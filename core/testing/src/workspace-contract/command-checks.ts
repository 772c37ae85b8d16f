import assert from "node:assert/strict";
import { expectCode } from "../contract/expect-code.ts";
import { inWorkspace, outcomeOf, textOf, type WorkspaceCheck } from "./workspace-check.ts";

/** Checks of single commands. */
export const commandChecks: readonly WorkspaceCheck[] = [
  {
    code: "SANDBOX_RESULT",
    name: "a command returns exit code, stdout and stderr, with its input, files and variables",
    run: (workspaces) =>
      inWorkspace(
        workspaces,
        { files: { "a/b.txt": "file", "run.sh": "#!/bin/sh\necho ran $1" }, env: { X: "x y" } },
        async (w) => {
          const result = await w.exec('cat; cat a/b.txt; ./run.sh 1; echo "$X" >&2; pwd > /dev/stderr; exit 3', {
            stdin: "in ",
          });
          assert.deepEqual(outcomeOf(result), [3, "in fileran 1\n", "x y\n/workspace\n"]);
          assert.deepEqual(
            [result.signal, result.timedOut, result.truncated, result.limit],
            [null, false, false, undefined],
          );
          assert.equal((await w.exec("kill -9 $$")).signal, "SIGKILL");
        },
      ),
  },
  {
    code: "SANDBOX_RESULT",
    name: "input and output may be any bytes, and are received while the command runs",
    run: (workspaces) =>
      inWorkspace(workspaces, {}, async (w) => {
        const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7 + (at >> 8)) & 255);
        const received: Uint8Array[] = [];
        const result = await w.exec("cat > f; cat f; printf e >&2", {
          stdin: bytes,
          onOutput: (chunk, stream) => void (stream === "stdout" && received.push(chunk)),
        });
        assert(Buffer.from(bytes).equals(result.stdout));
        assert(Buffer.from(bytes).equals(Buffer.concat(received)));
        assert.deepEqual([result.stdout.constructor.name, textOf(result.stderr)], ["Uint8Array", "e"]);
        assert(Buffer.from(bytes).equals((await w.readFile("f")) as Uint8Array));
      }),
  },
  {
    code: "SANDBOX_LIMIT",
    name: "a long output keeps its head and its tail",
    run: (workspaces) =>
      inWorkspace(workspaces, { limits: { outputBytes: 1000 } }, async (w) => {
        const { stdout, truncated, exitCode } = await w.exec("echo first; head -c 3000000 /dev/zero; echo last");
        assert.deepEqual([exitCode, truncated], [0, true]);
        assert(stdout.length < 1100, String(stdout.length));
        assert.match(textOf(stdout) as string, /^first\n\0.*\n\[2999011 bytes left out\]\n.*last\n$/s);
      }),
  },
  {
    code: "SANDBOX_LIMIT",
    name: "a command ends at its time limit, and by an abort, with all its processes",
    run: (workspaces) =>
      inWorkspace(workspaces, {}, async (w) => {
        const late = await w.exec("(setsid sleep 601 &) ; echo here; sleep 602", { timeoutMs: 1500 });
        assert.deepEqual([late.exitCode, late.timedOut, textOf(late.stdout)], [null, true, "here\n"]);
        const stop = new AbortController();
        const aborted = w.exec("echo on; sleep 603", { signal: stop.signal, onOutput: () => stop.abort() });
        await expectCode(aborted, "CANCELLED");
        const left = await w.exec("sleep 604 & echo done");
        assert.deepEqual(outcomeOf(left), [0, "done\n", ""]);
      }),
  },
  {
    code: "SANDBOX_RESULT",
    name: "commands see neither the processes, files and network of the host nor another workspace",
    run: (workspaces) =>
      inWorkspace(workspaces, { files: { secret: "1" } }, (other) =>
        inWorkspace(workspaces, {}, async (w) => {
          await other.exec("echo 2 > /tmp/secret");
          const seen = await w.exec(
            'ls /workspace /tmp; cat /etc/shadow 2>&1 | grep -c root:; ls /proc | grep -c "^[0-9]"; cat /proc/net/dev | grep -c eth; echo x > /usr/x; echo x > /etc/x; echo x > /x; echo $?',
          );
          const [listed, , , status] = [
            textOf(seen.stdout) as string,
            0,
            0,
            textOf(seen.stdout)?.trim().split("\n").at(-1),
          ];
          assert(!listed.includes("secret"), listed);
          assert.notEqual(status, "0");
          const [code, processes] = outcomeOf(await w.exec('ls /proc 2>/dev/null | grep -c "^[0-9]"'));
          assert(code !== null && Number(processes) < 10, `${processes} processes`);
        }),
      ),
  },
];
