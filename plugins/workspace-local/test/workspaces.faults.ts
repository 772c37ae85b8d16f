// npm run test:faults -- workspaces: programs that try to leave a workspace, or use as much as they can, and paths that lead out of it.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { LocalWorkspaces } from "@mrlm/sandbox";
import type { Workspace } from "@mrlm/spec";
import { ESCAPES, GREEDY } from "./support/escapes.ts";
import { missingJail } from "./support/missing-jail.ts";

const host = mkdtempSync(join(tmpdir(), "mrlm-host-"));
const marker = join(host, "marker");
const MEGABYTE = 2 ** 20;
const limits = {
  ...{ timeoutMs: 90_000, cpuMs: 2000, memoryBytes: 64 * MEGABYTE, processes: 40 },
  ...{ fileBytes: MEGABYTE, diskBytes: 16 * MEGABYTE, outputBytes: 4096 },
};
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

let workspaces: LocalWorkspaces;
const server = createServer((socket) => socket.end());

beforeAll(async () => {
  writeFileSync(marker, "of the host");
  process.env["HOST_SECRET"] = "1";
  server.listen(`\0${host}`);
  if (missingJail === undefined) workspaces = await LocalWorkspaces.make({ limits });
});
afterAll(async () => {
  await workspaces?.close();
  server.close();
  rmSync(host, { recursive: true, force: true });
});

async function inWorkspace(work: (workspace: Workspace) => Promise<void>): Promise<void> {
  const workspace = await workspaces.open({ files: { own: "own" } });
  try {
    await work(workspace);
    expect(text((await workspace.exec("rm -rf /tmp/* /root/* /var/* /dev/shm/*; cat own")).stdout)).toMatch(/own|^$/);
  } finally {
    await workspace.close();
  }
  expect(readFileSync(marker, "utf8")).toBe("of the host");
}

/** Processes of this machine with an argument that only commands of these tests have. */
function leftProcesses(): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("sleep\x00600\x00");
    } catch {
      return false;
    }
  });
}

(missingJail === undefined ? describe : describe.skip)(`workspaces (${missingJail ?? "here"})`, () => {
  describe.each(["exec", "shell"] as const)("by %s", (way) => {
    test.each(Object.entries(ESCAPES))("not through: %s", async (_name, program) => {
      const command = program.replaceAll("HOST/", `${host}/`).replaceAll("\\0HOST", `\\0${host}`);
      await inWorkspace(async (workspace) => {
        const output =
          way === "exec"
            ? text((await workspace.exec(command)).stdout)
            : text((await (await workspace.shell()).run(command)).output);
        expect(output).not.toMatch(/^THROUGH|of the host/m);
      });
    });

    test.each(Object.entries(GREEDY))("ends, and leaves nothing: %s", async (_name, [program, limit]) => {
      const before = leftProcesses();
      await inWorkspace(async (workspace) => {
        // A loaded machine gives a program its processor time late.
        const options = { timeoutMs: limit === "cpu-or-time" ? 4000 : 90_000 };
        const result =
          way === "exec"
            ? await workspace.exec(program, options)
            : await (await workspace.shell()).run(program, options);
        // A shell continues after a process that wrote too much.
        if (limit !== undefined && limit !== "cpu-or-time" && !(way === "shell" && limit === "file-size"))
          expect([result.limit, result.timedOut]).toEqual([limit, false]);
      });
      while (leftProcesses().some((pid) => !before.includes(pid))) await delay(20);
    });
  });

  test("no path of a file leaves the workspace: 1,200 paths through links", async () => {
    const steps = ["..", ".", "up", "abs", "proc", "loop", "d", "etc", "own", "", "marker", `..${host}`, host.slice(1)];
    await inWorkspace(async (workspace) => {
      await workspace.exec(
        `mkdir d; ln -s ../.. up; ln -s ${host} abs; ln -s /proc/self/root proc; ln -s loop loop; ln -s ${marker} m`,
      );
      let seed = 1;
      const next = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
      for (let at = 0; at < 1200; at++) {
        const parts = Array.from({ length: 1 + next(6) }, () => steps[next(steps.length)] as string);
        const path = `${next(3) === 0 ? "/" : ""}${parts.join("/")}`;
        expect(text(await workspace.readFile(path))).not.toBe("of the host");
        expect((await workspace.list(path))?.map(({ name }) => name) ?? []).not.toContain("cgroup");
        if (at % 4 === 0) await workspace.writeFile(`${path}/marker`, "changed").catch(() => undefined);
      }
      expect(text(await workspace.readFile("m"))).not.toBe("of the host");
    });
  });
});
