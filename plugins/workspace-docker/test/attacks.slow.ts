import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ExecResult, Workspace, WorkspaceOptions } from "@mrlm/spec";
import { Container } from "../src/container.ts";
import { ContainerProcess } from "../src/container-process.ts";
import { connect } from "../src/engine.ts";
import { COMMAND } from "../src/scripts.ts";
import { type Engine, IMAGE, missingEngine, startEngine } from "./support/engine.ts";

const MEGABYTE = 2 ** 20;
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const printed = ({ stdout, stderr }: ExecResult): string => text(stdout) + text(stderr);

let engine: Engine;

async function withWorkspace(
  options: WorkspaceOptions,
  work: (workspace: Workspace) => Promise<unknown>,
): Promise<void> {
  const workspaces = await engine.make();
  try {
    await work(await workspaces.open(options));
  } finally {
    await workspaces.close();
  }
}

(missingEngine === undefined ? describe : describe.skip)(
  `attacks on workspaces of Podman ${missingEngine ?? ""}`,
  () => {
    beforeAll(async () => {
      engine = await startEngine();
    }, 60_000);
    afterAll(() => engine.close(), 60_000);

    test(
      "programs in the path of a workspace run as no other user",
      () =>
        withWorkspace({ env: { PATH: "/root/.local/bin:/usr/bin:/bin" } }, async (workspace) => {
          for (const name of ["tar", "find", "rm", "cat", "stat", "xargs", "mv", "chmod", "mkdir"])
            await workspace.writeFile(`/root/.local/bin/${name}`, '#!/bin/sh\necho "$0" >> /tmp/ran; exit 1\n');
          await workspace.exec("/bin/chmod 755 /root/.local/bin/*");
          await workspace.writeFile("f", "1");
          expect(text(await workspace.readFile("f"))).toBe("1");
          expect(await workspace.list("/workspace")).toHaveLength(1);
          await workspace.restore(await workspace.snapshot());
          expect((await workspace.exec("[ ! -e /tmp/ran ] && tar; [ -e /tmp/ran ]")).exitCode).toBe(0);
          await workspace.exec("/bin/rm /tmp/ran");
          expect(await workspace.readFile("/tmp/ran")).toBeUndefined();
        }),
      60_000,
    );

    test(
      "a program that forks and exits in a chain ends with its command",
      () =>
        withWorkspace({ limits: { processes: 8000 } }, async (workspace) => {
          const chain = (flees: string): string =>
            `python3 -c '
import os, time
${flees}
while True:
    if os.fork(): os._exit(0)
    open("/tmp/alive", "w").close()
'`;
          const shell = await workspace.shell();
          for (const flees of ["", "os.setsid() if not os.fork() else os._exit(0)"]) {
            const { timedOut } = await workspace.exec(`${chain(flees)}; sleep 600`, { timeoutMs: 1000 });
            expect(timedOut).toBe(true);
            await workspace.exec(`${chain(flees)} & sleep 0.2; exit 3`);
            const next = await workspace.exec("rm -f /tmp/alive; sleep 0.5; [ ! -e /tmp/alive ]");
            expect([flees, next.exitCode]).toEqual([flees, 0]);
            expect(text((await shell.run("echo on")).output)).toContain("on");
          }
        }),
      60_000,
    );

    test(
      "a program that ends all others cannot keep files from being read",
      () =>
        withWorkspace({}, async (workspace) => {
          await workspace.writeFile("f", "1");
          const running = workspace.exec("while :; do kill -9 -1; done");
          await new Promise((resolve) => void setTimeout(resolve, 500));
          expect(text(await workspace.readFile("f"))).toBe("1");
          expect(await running).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
        }),
      60_000,
    );

    test(
      "a link to a file without an end, and a folder with very long names, have no content",
      () =>
        withWorkspace({ limits: { fileBytes: MEGABYTE } }, async (workspace) => {
          await workspace.exec("ln -s /proc/self/pagemap answer.txt; ln -s /proc/self/mem mem; ln -s /dev/zero zero");
          for (const name of ["answer.txt", "mem", "zero", "none"])
            expect([name, await workspace.readFile(name)]).toEqual([name, undefined]);
          await workspace.exec("mkdir d; cd d; n=$(printf %0200d 0); for i in $(seq 6000); do : > $n$i; done");
          expect(await workspace.list("/workspace/d")).toBeUndefined();
          expect((await workspace.exec("exit 3")).exitCode).toBe(3);
        }),
      60_000,
    );

    test("a command whose outputs the engine closes runs to its end", async () => {
      const docker = await connect(engine.socket);
      const workspaces = await engine.make();
      const { limits } = workspaces;
      const container = await Container.start(docker, { image: IMAGE, folders: ["/tmp"], limits, socket: undefined });
      try {
        const running = await ContainerProcess.start(docker, container, {
          ...{
            script: COMMAND,
            command: "sleep 1; exit 7",
            args: [""],
            workdir: "/",
            env: {},
            limits,
            isLimited: true,
          },
          onStdout: () => undefined,
        });
        running.stream.destroy();
        expect(await running.ended).toBe(7);
      } finally {
        await container.close();
        await workspaces.close();
      }
    }, 30_000);

    test(
      "a command that closes its outputs runs to its end, and its locale is not that of the scripts",
      () =>
        withWorkspace({}, async (workspace) => {
          const { exitCode } = await workspace.exec("exec >/tmp/out 2>&1; sleep 1; echo ${LC_ALL-none} $LANG; exit 4");
          expect([exitCode, text(await workspace.readFile("/tmp/out"))]).toEqual([4, "none C.UTF-8\n"]);
          expect(printed(await workspace.exec("exec >&- 2>&-; sleep 1; exit 5"))).toBe("");
        }),
      30_000,
    );
  },
);
