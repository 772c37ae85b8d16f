import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import type { Workspaces } from "@mrlm/spec";
import { makeWorkspaces, type OpenShell, openShell } from "./support/open-shell.ts";

const made = await makeWorkspaces();
const opened: OpenShell[] = [];
const open = async (options?: Parameters<typeof openShell>[1]): Promise<OpenShell> => {
  const shell = await openShell(made as Workspaces, options);
  opened.push(shell);
  return shell;
};

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});
afterAll(async () => {
  if (typeof made !== "string") await made.close();
});

(typeof made === "string" ? describe.skip : describe)(`a shell (${typeof made === "string" ? made : "here"})`, () => {
  test("keeps its state, and shows exit codes, both streams and what is empty", async () => {
    const { call } = await open({ files: { "data.csv": "1,2\n", bin: Uint8Array.of(0, 255) } });
    expect(await call("bash", { command: "cd /tmp; x=5" })).toBe("(no output)");
    expect(
      await call("bash", { command: "pwd; echo $x; cat /workspace/data.csv; echo e >&2; wc -c < /workspace/bin" }),
    ).toBe("/tmp\n5\n1,2\ne\n2");
    expect(await call("bash", { command: "echo no; (exit 3)" })).toBe("ERROR no\n[exit code 3]");
    expect(await call("bash", { command: "read a; echo got $a", input: "typed\n" })).toBe("got typed");
    expect(await call("bash", { command: "a\0b" })).toBe("ERROR A command has no NUL character.");
  });

  test("interrupts what asks or does not end, and continues", async () => {
    const { call } = await open({ timeoutMs: 700 });
    expect(await call("bash", { command: "x=1; printf 'Sure? '; read answer" })).toMatch(
      /^ERROR Sure\? \n*\[The commands were interrupted after 0\.7 s\.\]$/,
    );
    expect(await call("bash", { command: "echo $x" })).toBe("1");
  });

  test("names a limit, the end of the shell, and what was cut", async () => {
    const { call } = await open({ limits: { processes: 8, outputBytes: 100 } });
    expect(await call("bash", { command: "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 60 & done; wait" })).toMatch(
      /started more than 8 processes.*\n\[The shell has ended: .* The next call starts a new shell\.\]$/s,
    );
    expect(await call("bash", { command: "seq 1000" })).toMatch(/^1\n2\n.*\[\d+ bytes left out\]\n.*\n1000$/s);
    expect(await call("bash", { command: "exit 0" })).toMatch(/^exit\n\[The shell has ended/);
  });

  test("works in a workspace of the environment, and leaves it open", async () => {
    const workspace = await (made as Workspaces).open({ workdir: "/own", files: { a: "1\n" } });
    const { call, close } = await openShell(made as Workspaces, { workspace });
    expect(await call("bash", { command: "pwd; cat a; echo 2 > b; (sleep 60 &)" })).toBe("/own\n1");
    expect(await call("edit", { action: "view", path: "b" })).toBe("     1\t2");
    await workspace.snapshot({ ends: true });
    expect(await call("bash", { command: "cat b" })).toBe("2");
    await close();
    expect(new TextDecoder().decode(await workspace.readFile("b"))).toBe("2\n");
    await workspace.close();
  });

  test("edits files that commands see", async () => {
    const { call } = await open({ files: { "a.txt": "one\ntwo\ntwo\nthree" } });
    expect(await call("edit", { action: "view", path: "a.txt", line: 2, lines: 2 })).toBe(
      "     2\ttwo\n     3\ttwo\n[1 more lines]",
    );
    expect(await call("edit", { action: "replace", path: "a.txt", old_text: "two", new_text: "2" })).toBe(
      "ERROR `old_text` occurs 2 times, at the lines 2, 3: add text around it.",
    );
    expect(await call("edit", { action: "replace", path: "a.txt", old_text: "two\nthree", new_text: "$& 3" })).toBe(
      "Replaced in a.txt.",
    );
    expect(await call("edit", { action: "insert", path: "a.txt", line: 3, new_text: "end" })).toBe(
      "Inserted in a.txt.",
    );
    expect(await call("edit", { action: "insert", path: "new/b.sh", new_text: "#!/bin/sh\ncat a.txt" })).toBe(
      "Inserted in new/b.sh.",
    );
    expect(await call("bash", { command: "new/b.sh" })).toBe("one\ntwo\n$& 3\nend");
    for (const [args, reason] of [
      [{ action: "view", path: "none" }, "There is no file none"],
      [{ action: "view", path: "new" }, "There is no file new"],
      [{ action: "insert", path: "new", new_text: "" }, "new cannot be written"],
      [{ action: "insert", path: "a.txt", line: 9, new_text: "" }, "The file has 4 lines"],
      [{ action: "replace", path: "a.txt", old_text: "zzz" }, "`old_text` does not occur"],
      [{ action: "replace", path: "a.txt" }, "`replace` needs `old_text`"],
    ] as const)
      expect(await call("edit", args)).toContain(`ERROR ${reason}`);
  });
});
