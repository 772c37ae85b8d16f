import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { expectCode } from "../contract/expect-code.ts";
import { inWorkspace, textOf, type WorkspaceCheck } from "./workspace-check.ts";

/** Checks of files, paths and snapshots. */
export const fileChecks: readonly WorkspaceCheck[] = [
  {
    code: "SANDBOX_RESULT",
    name: "files are written, read and listed, with what commands did to them",
    run: (workspaces) =>
      inWorkspace(workspaces, {}, async (w) => {
        await w.writeFile("d/é.txt", "text");
        await w.writeFile("/tests/run.sh", "#!/bin/sh\necho tested");
        assert.equal(
          textOf((await w.exec("cat d/*; /tests/run.sh; mv d e; ln -s e l; mkfifo p")).stdout),
          "texttested\n",
        );
        assert.deepEqual(await w.list("."), [
          { name: "e", type: "directory", bytes: 0 },
          { name: "l", type: "link", bytes: 0 },
          { name: "p", type: "other", bytes: 0 },
        ]);
        assert.deepEqual(await w.list("e"), [{ name: "é.txt", type: "file", bytes: 4 }]);
        assert.deepEqual([await w.list("none"), await w.list("e/é.txt")], [undefined, undefined]);
        for (const path of ["none", "e", "p", "e/é.txt/x", "a\0b"])
          assert.equal(await w.readFile(path), undefined, path);
        await w.writeFile("l/é.txt", "second");
        assert.equal(textOf(await w.readFile("/workspace/e/../l/é.txt")), "second");
        for (const path of ["e", "p/x", "e/é.txt/x"]) await expectCode(w.writeFile(path, ""), "DATA_INVALID");
      }),
  },
  {
    code: "SANDBOX_RESULT",
    name: "a path and its links never leave the workspace, also while a program exchanges folders for links",
    run: (workspaces) =>
      inWorkspace(workspaces, { files: { "in/etc/passwd": "own", "etc/passwd": "own" } }, async (w) => {
        await w.exec(
          "ln -s /etc/passwd l; ln -s ../../../../../../etc up; ln -s loop loop; ln -s /proc/self/root/etc root",
        );
        // A file of the image is one of the workspace.
        const own = [undefined, "own", "", textOf((await w.exec("cat /etc/passwd")).stdout)];
        for (const path of ["l", "up/passwd", "loop", "root/passwd", "../../../../etc/passwd"]) {
          const read = textOf(await w.readFile(path));
          assert(own.includes(read), `${path}: ${read}`);
        }
        const exchange = w.exec("while :; do ln -sfn /etc x; ln -sfn in/etc x; rm x; cp -r in/etc x; rm -r x; done", {
          timeoutMs: 2000,
        });
        const over = new AbortController();
        void exchange.then(() => over.abort());
        while (!over.signal.aborted) {
          await setImmediate();
          const read = textOf(await w.readFile("x/passwd"));
          assert(own.includes(read), `read ${read}`);
        }
        await w.exec("rm -rf x; ln -s /tmp/target written");
        await w.writeFile("written", "here");
        assert.equal((await w.list("."))?.find(({ name }) => name === "written")?.type, "file");
      }),
  },
  {
    code: "SANDBOX_SESSION",
    name: "a snapshot restores the files, also in another workspace, and ends processes",
    run: (workspaces) =>
      inWorkspace(workspaces, { files: { f: "1", "d/g": "2" } }, async (w) => {
        const shell = await w.shell();
        const name = await w.snapshot();
        await w.exec("rm -r d; echo new > f; echo more > h; chmod 600 f");
        await w.restore(name);
        assert.equal(shell.hasEnded, true);
        const state = "cat f d/g; ls; stat -c %a f";
        assert.equal(textOf((await w.exec(state)).stdout), "12d\nf\n644\n");
        await inWorkspace(workspaces, {}, async (other) => {
          await other.restore(name);
          assert.equal(textOf((await other.exec(state)).stdout), "12d\nf\n644\n");
        });
        await expectCode(w.restore("none"), "OPTIONS_INVALID");
      }),
  },
  {
    code: "SANDBOX_SESSION",
    name: "a snapshot with a key outlives its workspace, and commands start in the working directory",
    run: async (workspaces) => {
      const key = `contract ${crypto.randomUUID()}`;
      const workdir = "/made/below";
      await inWorkspace(workspaces, { workdir, files: { f: "1" } }, async (w) => {
        const shell = await w.shell();
        await w.exec("(sleep 60 &) ; echo 2 > g");
        assert.equal(await w.snapshot({ ends: true, key }), key);
        assert.equal(shell.hasEnded, true);
        // The folder is made anew where a program has removed it.
        await w.exec("rm -rf /made/below");
        assert.equal(textOf((await w.exec("pwd; ls")).stdout), "/made/below\n");
      });
      await inWorkspace(workspaces, { workdir }, async (w) => {
        await w.restore(key);
        assert.equal(textOf((await w.exec("pwd; cat f g")).stdout), "/made/below\n12\n");
        assert.equal(textOf(await w.readFile("f")), "1");
      });
      await expectCode(workspaces.open({ workdir: "made" }), "OPTIONS_INVALID");
    },
  },
];
