import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { detectJail, LocalWorkspaces } from "../src/index.ts";
import { BoundedOutput } from "../src/workspace/bounded-output.ts";
import { Holder, holderTools } from "../src/workspace/holder.ts";

const { bubblewrap, missing } = await detectJail();
const folder = mkdtempSync(join(tmpdir(), "mrlm-workspace-"));
const providers: LocalWorkspaces[] = [];
afterAll(async () => {
  await Promise.all(providers.map((provider) => provider.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function make(options: Parameters<typeof LocalWorkspaces.make>[0]): Promise<LocalWorkspaces> {
  const provider = await LocalWorkspaces.make(options);
  providers.push(provider);
  return provider;
}

/** Ids of the child processes of this process. */
function children(): number[] {
  const lists = readdirSync("/proc/self/task").map((id) => readFileSync(`/proc/self/task/${id}/children`, "utf8"));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

test("an output keeps its head and its tail, however it arrives", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 30 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 20 }),
      (chunks, half) => {
        const output = new BoundedOutput(2 * half);
        for (const chunk of chunks) output.add(Buffer.from(chunk));
        const whole = Buffer.from(chunks.join(""));
        const left = whole.length - 2 * half;
        expect(output.isTruncated).toBe(left > 0);
        const note = Buffer.from(`\n[${left} bytes left out]\n`);
        const kept = left > 0 ? Buffer.concat([whole.subarray(0, half), note, whole.subarray(-half)]) : whole;
        expect(Buffer.from(output.bytes())).toEqual(kept);
      },
    ),
  );
});

(bubblewrap === undefined ? describe.skip : describe)(`local workspaces (${missing[0]?.reason ?? "here"})`, () => {
  test("wait for a place, and are refused beyond the queue", async () => {
    const workspaces = await make({ count: 1, queue: 1 });
    const first = await workspaces.open();
    const waits: string[] = [];
    const second = workspaces.open({
      queued: async (wait) => {
        waits.push("begins");
        const value = await wait();
        waits.push("ends");
        return value;
      },
    });
    await expect(workspaces.open()).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      hint: expect.stringMatching(/`workspaces`/),
    });
    expect(waits).toEqual(["begins"]);
    await first.close();
    await (await second).close();
    expect(waits).toEqual(["begins", "ends"]);
    await expect(workspaces.open({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("reach one socket of the host, and servers of their own", async () => {
    const path = join(folder, "host.sock");
    const server = createServer((socket) => socket.end("from the host")).listen(path);
    const workspaces = await make({});
    const workspace = await workspaces.open({ socket: path });
    const ask = (address: string): string =>
      `python3 -c 'import socket; s = socket.socket(${address}); print(s.recv(99).decode())'`;
    if ((await workspace.exec("command -v python3")).exitCode === 0) {
      const asked = await workspace.exec(ask('socket.AF_UNIX); s.connect("/mrlm/socket"'));
      expect([text(asked.stdout), text(asked.stderr)]).toEqual(["from the host\n", ""]);
      const shell = await workspace.shell();
      await shell.run(
        `python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 8000)); c, _ = s.accept(); c.send(b"own")' &`,
      );
      expect(
        text(
          (await workspace.exec(`until ${ask('); s.connect(("127.0.0.1", 8000)')} 2>/dev/null; do sleep 0.1; done`))
            .stdout,
        ),
      ).toBe("own\n");
    }
    await new Promise((resolve) => server.close(resolve));
    expect((await workspace.exec("test ! -e /mrlm/socket")).exitCode).toBe(0);
    await workspace.close();
    await expect(workspaces.open({ socket: join(folder, "none") })).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
  });

  test("remove a socket of the provider's folder, also one whose listener was killed", async () => {
    const workspaces = await make({});
    const socket = join(workspaces.sockets, "one");
    const killed = `require("net").createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 9))`;
    spawnSync(process.execPath, ["-e", killed]);
    const workspace = await workspaces.open({ socket });
    expect(readdirSync(workspaces.sockets)).toEqual(["one"]);
    await workspace.close();
    expect(readdirSync(workspaces.sockets)).toEqual([]);
  });

  test("fail without a verdict where the files are gone", async () => {
    const workspaces = await make({});
    const before = children();
    const workspace = await workspaces.open();
    const other = await workspaces.open();
    for (const pid of children().filter((each) => !before.includes(each))) process.kill(pid, "SIGKILL");
    const outcome = await other.exec("echo on").catch((error: unknown) => error);
    expect(outcome).toMatchObject({ code: "SANDBOX_FAILED" });
    const third = await workspaces.open();
    expect(text((await third.exec("echo on")).stdout)).toBe("on\n");
    await Promise.all([other.close(), third.close()]);
    await workspace.close();
    await workspace.close();
    for (const call of [workspace.exec("true"), workspace.shell(), workspace.readFile("f"), workspace.snapshot()])
      await expect(call).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  test("copy an image where the kernel has no overlay", async () => {
    const image = join(folder, "image");
    mkdirSync(join(image, "etc"), { recursive: true });
    writeFileSync(join(image, "etc/name"), "copied");
    const mountPoint = join(folder, "mount");
    mkdirSync(mountPoint);
    const holder = await Holder.start(holderTools(bubblewrap?.path as string), mountPoint, 2 ** 20);
    expect(await holder.overlay(join(folder, "none"))).toBe(false);
    await holder.copy(image);
    const { command, args } = holder.enter(
      { command: "/bin/cat", args: [join(mountPoint, "tree/etc/name")], env: {}, descriptors: [] },
      1024,
    );
    expect([command, args.at(-1)]).toEqual(["/bin/sh", join(mountPoint, "tree/etc/name")]);
    await holder.tar(["--create", "--file", join(folder, "copy.tar"), "--directory", holder.path("tree"), "."], {});
    await holder.close();
    await expect(holder.copy(image)).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
  });
});
