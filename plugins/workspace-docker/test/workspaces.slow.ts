import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ownerLabel } from "@mrlm/process";
import type { ExecResult, Workspace, WorkspaceOptions } from "@mrlm/spec";
import type { DockerWorkspaces, DockerWorkspacesOptions } from "../src/docker-workspaces.ts";
import { type Engine, IMAGE, missingEngine, startEngine } from "./support/engine.ts";

const MEGABYTE = 2 ** 20;
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const printed = ({ stdout, stderr }: ExecResult): string => text(stdout) + text(stderr);

let engine: Engine;

/** Makes a provider, works with it, and closes it. */
async function withProvider(
  more: Partial<DockerWorkspacesOptions>,
  work: (workspaces: DockerWorkspaces) => Promise<unknown>,
): Promise<void> {
  const workspaces = await engine.make(more);
  try {
    await work(workspaces);
  } finally {
    await workspaces.close();
  }
}

const withWorkspace = (options: WorkspaceOptions, work: (workspace: Workspace) => Promise<unknown>): Promise<void> =>
  withProvider({}, async (workspaces) => work(await workspaces.open(options)));

const containers = async (): Promise<string[]> =>
  (await engine.podman("ps", "--all", "--format", "{{.ID}} {{.Names}} {{.Status}}")).split("\n").filter(Boolean);

/** Makes an image by a command in a container. */
async function committed(image: string, command: string, ...options: string[]): Promise<void> {
  const limits = ["--ulimit", "nofile=1024", "--ulimit", "nproc=1024"];
  await engine.podman("run", "--name", "made", "--network", "none", ...limits, IMAGE, "bash", "-c", command);
  await engine.podman("commit", ...options, "made", image);
  await engine.podman("rm", "made");
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Waits until the engine has no container. */
async function nothingLeft(): Promise<void> {
  while ((await containers()).length > 0) await delay(100);
}

(missingEngine === undefined ? describe : describe.skip)(`workspaces of Podman ${missingEngine ?? ""}`, () => {
  beforeAll(async () => {
    engine = await startEngine();
  }, 60_000);
  afterAll(() => engine.close(), 60_000);

  test(
    "programs have no rights, write to no file of the image, and see neither a network nor a device",
    () =>
      withWorkspace({}, async (workspace) => {
        const { stdout } = await workspace.exec(
          "grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp:' /proc/self/status; grep -c eth /proc/net/dev",
        );
        const rights = text(stdout).replaceAll("\t", " ").split("\n");
        const none = "0000000000000000";
        expect(rights).toEqual([
          ...["CapInh", "CapPrm", "CapEff", "CapAmb"].map((name) => `${name}: ${none}`),
          ...["NoNewPrivs: 1", "Seccomp: 2", "0", ""],
        ]);
        for (const path of [
          "/x",
          "/usr/x",
          "/etc/passwd",
          "/usr/bin/cat",
          "/dev/x",
          "/proc/sys/kernel/core_pattern",
          "/sys/x",
        ])
          expect([path, (await workspace.exec(`echo x >> ${path}`)).exitCode === 0]).toEqual([path, false]);
        for (const attack of [
          "kill -9 1",
          "kill -9 -1",
          "kill 1",
          "cat /proc/1/environ",
          "ls /proc/1/fd",
          "cat /proc/1/mem",
        ])
          await workspace.exec(attack);
        expect(printed(await workspace.exec("mount -t tmpfs x /tmp; chown 0 /tmp; echo on"))).toContain("on");
      }),
    30_000,
  );

  test(
    "commands at the same time have their own output and end alone",
    () =>
      withWorkspace({}, async (workspace) => {
        const shell = await workspace.shell();
        await shell.run("sleep 600 & (setsid sleep 601 &) ; sleep 0.3");
        const results = await Promise.all(
          Array.from({ length: 6 }, (_, at) => workspace.exec(`(sleep 60${at} &); echo ${at}; exit ${at}`)),
        );
        expect(results.map((each) => [each.exitCode, text(each.stdout)])).toEqual(
          Array.from({ length: 6 }, (_, at) => [at, `${at}\n`]),
        );
        const left = printed(await workspace.exec("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"));
        expect([...left.matchAll(/sleep (60\d)/g)].map(([, seconds]) => seconds).toSorted()).toEqual(["600", "601"]);
        await shell.close();
        expect(printed(await workspace.exec("cat /proc/[0-9]*/cmdline | tr '\\0' ' '"))).not.toContain("sleep");
      }),
    60_000,
  );

  test(
    "files with any names and bytes are listed, read and written",
    () =>
      withWorkspace({}, async (workspace) => {
        const bytes = Uint8Array.from({ length: 300_000 }, (_, at) => (at * 31 + (at >> 9)) & 255);
        for (const name of ["a b", "-rf", "*", "'\"$(x)\\n", "new\nline", ".hidden", "é"]) {
          await workspace.writeFile(`d/${name}`, bytes);
          expect(Buffer.from(bytes).equals((await workspace.readFile(`d/${name}`)) as Uint8Array)).toBe(true);
        }
        expect((await workspace.list("d"))?.map(({ name, bytes: size }) => [name, size])).toEqual(
          ["'\"$(x)\\n", "*", "-rf", ".hidden", "a b", "new\nline", "é"].map((name) => [name, bytes.length]),
        );
        expect(await workspace.list("/mnt")).toEqual([]);
        await expect(workspace.writeFile("/usr/x", "")).rejects.toMatchObject({ code: "DATA_INVALID" });
        await expect(workspace.writeFile("a\0b", "")).rejects.toMatchObject({ code: "DATA_INVALID" });
      }),
    60_000,
  );

  test(
    "a limit ends all programs, also those that flee from their parents, and the workspace continues",
    () =>
      withWorkspace(
        { limits: { memoryBytes: 64 * MEGABYTE, processes: 24, cpuMs: 1500, diskBytes: 8 * MEGABYTE } },
        async (workspace) => {
          const programs = {
            processes: "b() { (setsid sh -c 'sleep 600' &) ; }; while :; do b; done",
            cpu: "for i in 1 2 3; do (setsid sh -c 'while :; do :; done' &) ; done; sleep 600",
            memory: "head -c 300000000 /dev/zero | tail -n 1",
            disk: "for f in /tmp /mnt /srv /opt; do head -c 7000000 /dev/zero > $f/x; done; sleep 600",
          };
          for (const [limit, program] of Object.entries(programs)) {
            const result = await workspace.exec(program);
            expect([limit, result.limit, result.exitCode]).toEqual([limit, limit, null]);
            await workspace.exec("rm -f /tmp/x /mnt/x /srv/x /opt/x");
            const next = await workspace.exec("ls /proc | grep -c '^[0-9]'; echo on");
            expect([limit, next.limit, printed(next)]).toEqual([
              limit,
              undefined,
              expect.stringMatching(/^[1-9]\non\n$/),
            ]);
          }
        },
      ),
    60_000,
  );

  test("the working directory of an image keeps its files, and programs may change them", async () => {
    await committed("with-repo:1", "mkdir -p /repo/d && echo 1 > /repo/d/f && mkdir /data && echo 2 > /data/f");
    await withWorkspace({ image: "with-repo:1", workdir: "/repo" }, async (workspace) => {
      expect(printed(await workspace.exec("cat d/f; echo 3 > d/f; rm -r d; ls -A; cat /data/f; pwd"))).toBe(
        "1\n2\n/repo\n",
      );
      expect((await workspace.exec("echo 3 > /data/f")).exitCode).not.toBe(0);
    });
  }, 60_000);

  test("volumes of an image are limited as other folders, and restored", async () => {
    await committed("with-volume:1", "mkdir -p /data/v /root/v", "--change", "VOLUME /data/v");
    await committed("nested:1", "true", "--change", "VOLUME /root/v");
    await withProvider({ image: "with-volume:1", limits: { diskBytes: 8 * MEGABYTE } }, async (workspaces) => {
      const workspace = await workspaces.open();
      const name = await workspace.snapshot();
      const { exitCode, limit } = await workspace.exec("head -c 9000000 /dev/zero > /data/v/x");
      expect([exitCode === 0, limit]).toEqual([false, "disk"]);
      await workspace.exec("rm /data/v/x; for f in /tmp /mnt; do head -c 5000000 /dev/zero > $f/x; done");
      expect(await workspace.exec("exit 3")).toMatchObject({ exitCode: 3, truncated: false });
      expect((await workspace.exec("exit 3")).limit).toBeUndefined();
      await workspace.exec("echo 1 > /dev/shm/x; echo 1 > /data/v/y; [ -e /dev/shm/x ] && [ -e /data/v/y ]");
      await workspace.restore(name);
      expect(printed(await workspace.exec("ls -A /dev/shm /data/v /tmp"))).not.toMatch(/x|y/);
      expect(printed(await workspace.exec("find /run -writable | head; grep -c size= /proc/mounts"))).toMatch(
        /^\d+\n$/,
      );
      await expect(workspaces.open({ image: "nested:1" })).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
    });
    expect(await engine.podman("volume", "ls", "--quiet")).toBe("");
  }, 60_000);

  test("bash may be the shell of an image", async () => {
    await committed("with-bash:1", "cp /bin/bash /usr/bin/sh; cp /bin/bash /bin/sh");
    await withWorkspace({ image: "with-bash:1", limits: { processes: 24 } }, async (workspace) => {
      for (let round = 0; round < 3; round++)
        expect(printed(await workspace.exec("(setsid sleep 600 &); echo ${BASH_VERSION:+on}"))).toBe("on\n");
      expect((await workspace.exec("while :; do (setsid sleep 600 &); done")).limit).toBe("processes");
      expect(await workspace.exec("exit 3")).toMatchObject({ exitCode: 3 });
      await workspace.writeFile("d/f", "1");
      expect(await workspace.list("d")).toEqual([{ name: "f", type: "file", bytes: 1 }]);
    });
  }, 60_000);

  test("one Unix socket of the host is reached, and a closed one is refused", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mrlm-socket-"));
    const socket = join(folder, "s");
    const server = createServer((connection) => connection.end("from the host\n")).listen(socket);
    await once(server, "listening");
    try {
      chmodSync(socket, 0o700);
      await withProvider({}, async (workspaces) => {
        await expect(workspaces.open({ socket })).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
        await expect(workspaces.open({ socket: folder })).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
        chmodSync(socket, 0o777);
        const workspace = await workspaces.open({ socket });
        expect(
          printed(await workspace.exec("ls -l /mrlm/socket; [ -S /mrlm/socket ] && [ -w /mrlm/socket ] && echo open")),
        ).toContain("open");
      });
    } finally {
      server.close();
      rmSync(folder, { recursive: true });
    }
  }, 30_000);

  test("many workspaces open at the same time, warm ones first, and none is left", async () => {
    await withProvider({ warm: 2, count: 6 }, async (workspaces) => {
      expect((await containers()).length).toBe(2);
      const names = await Promise.all(
        Array.from({ length: 10 }, async (_, at) => {
          const workspace = await workspaces.open({ files: { f: String(at) } });
          const found = text(await workspace.readFile("f"));
          await workspace.close();
          return found;
        }),
      );
      expect(names).toEqual(Array.from({ length: 10 }, (_, at) => String(at)));
    });
    await nothingLeft();
  }, 90_000);

  test("containers of a killed process end, and those that were left are removed by the next provider", async () => {
    const program = fileURLToPath(new URL("./support/open-alone.ts", import.meta.url));
    const child = spawn(
      process.execPath,
      ["--conditions=mrlm-source", "--no-warnings", program, JSON.stringify(engine.options())],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    await once(child.stdout as NodeJS.ReadableStream, "data");
    expect((await containers()).length).toBe(1);
    child.kill("SIGKILL");
    await nothingLeft();
    for (const [name, owner] of [
      // The first process of a machine did not start at its second tick.
      ["ended", ownerLabel().replace(/^\d+ \d+/, "1 2")],
      ["other", ownerLabel().replace(/^\d+ \d+ \S+/, "1 2 another-machine")],
      ["inside", ownerLabel().replace(/^\d+ \d+(.*) \S+$/, "1 2$1 pid:[1]")],
    ] as const)
      await engine.podman(
        "run",
        "--detach",
        "--name",
        name,
        "--network",
        "none",
        "--ulimit",
        "nofile=1024",
        "--ulimit",
        "nproc=1024",
        "--label",
        `mrlm.workspaces.owner=${owner}`,
        IMAGE,
        "sleep",
        "600",
      );
    await withProvider({}, async (workspaces) => {
      const workspace = await workspaces.open();
      // A provider of a process that runs keeps its containers.
      await withProvider({}, async () => undefined);
      expect((await workspace.exec("true")).exitCode).toBe(0);
      const names = (await containers()).map((line) => line.split(" ")[1]);
      expect(names.filter((name) => /^(ended|other|inside)$/.test(name as string)).toSorted()).toEqual([
        "inside",
        "other",
      ]);
    });
    await engine.podman("rm", "--force", "--time", "0", "other", "inside");
  }, 60_000);

  test("the end of a container, and of the engine, is a failure of the workspace and no result", async () => {
    await withProvider({}, async (workspaces) => {
      const failed = { code: "SANDBOX_FAILED" };
      const killed = await workspaces.open();
      const running = failureOf(killed.exec("sleep 600"));
      await delay(500);
      await engine.podman("kill", "--all");
      expect(await running).toMatchObject(failed);
      await expect(killed.exec("true")).rejects.toMatchObject(failed);
      await expect(killed.readFile("f")).rejects.toMatchObject(failed);
      await killed.close();
      const halted = await workspaces.open();
      const during = failureOf(halted.exec("sleep 600"));
      await delay(500);
      await engine.halt();
      expect(await during).toMatchObject(failed);
      await expect(workspaces.open()).rejects.toMatchObject(failed);
      await engine.serve();
      expect((await (await workspaces.open()).exec("true")).exitCode).toBe(0);
      await halted.close();
    });
    await nothingLeft();
  }, 60_000);

  test("a close during the start of a command leaves no connection and no container", async () => {
    const connections = (): number => process.getActiveResourcesInfo().filter((name) => name === "PipeWrap").length;
    const before = connections();
    await withProvider({}, async (workspaces) => {
      for (const ms of [0, 10, 20, 40, 60, 80, 120, 160]) {
        const workspace = await workspaces.open();
        const outcome = failureOf(workspace.exec("sleep 600"));
        await delay(ms);
        await workspace.close();
        expect([ms, await outcome]).toEqual([ms, expect.objectContaining({ code: "SESSION_NOT_FOUND" })]);
      }
    });
    await nothingLeft();
    while (connections() > before) await delay(20);
  }, 60_000);

  test("a missing engine and a missing or unfit image are errors that state what to do", async () => {
    await expect(engine.make({ socket: "/none.sock" })).rejects.toMatchObject({
      code: "SANDBOX_FAILED",
      message: expect.stringContaining("/none.sock cannot be reached: there is no such socket"),
    });
    await committed("without-tar:1", "rm -f /bin/tar /usr/bin/tar");
    await withProvider({}, async (workspaces) => {
      await expect(workspaces.open({ image: "none:1" })).rejects.toMatchObject({
        code: "OPTIONS_INVALID",
        hint: expect.stringContaining("docker pull none:1"),
      });
      await expect(workspaces.open({ image: "without-tar:1" })).rejects.toMatchObject({
        code: "OPTIONS_INVALID",
        message: "The image without-tar:1 has no tar.",
      });
    });
    await nothingLeft();
  }, 60_000);
});
