import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { connect } from "../src/engine.ts";
import { lookOf } from "../src/look.ts";

/** Returns a line of /proc/PID/stat. */
function stat(pid: number, name: string, parent: number, session: number, state = "S"): string {
  return [`${pid} (${name})`, state, parent, pid, session, ...Array.from({ length: 46 }, (_, at) => at)].join(" ");
}

test.each([
  ["1", ["+usage_nsec 2500000", "+rss 7", "+shmem 8", "+oom_kill 1", "+max 2"]],
  ["2", ["+usage_usec 2500", "+anon 7", "+shmem 8", "+oom_kill 1", "+max 2"]],
])("counters of cgroups of version %s are read", (_, lines) => {
  const figures = { cpuMs: 2.5, memoryBytes: 7, diskBytes: 8, kills: 1, refusedForks: 2 };
  expect(lookOf(lines)).toMatchObject({ ...figures, missing: [] });
});

test("counters that a container does not show are named", () => {
  expect(lookOf(["+anon 7", "+shmem 8"]).missing).toEqual(["cpuMs", "kills", "refusedForks"]);
});

test("a program cannot hide by its name, nor show another origin", () => {
  const lines = [
    stat(1, "sh", 0, 1),
    stat(8, "a) R 0 9 9", 3, 4),
    // A name with a new line: the supervisor reads the first line.
    "9 (b) R 0 8 8",
    stat(10, "dead", 1, 4, "Z"),
    "+max 1",
  ];
  expect(lookOf(lines).processes).toEqual([
    { pid: 8, parent: 3, session: 4, start: expect.any(Number) },
    { pid: 9, parent: 1, session: 0, start: 0 },
  ]);
});

test("an engine that does not answer is an error that states what to do", async () => {
  const connections: Socket[] = [];
  const folder = mkdtempSync(join(tmpdir(), "mrlm-silent-"));
  const server = createServer((connection) => connections.push(connection)).listen(join(folder, "s"));
  await once(server, "listening");
  await expect(connect(join(folder, "s"), 20)).rejects.toMatchObject({
    code: "SANDBOX_FAILED",
    message: "The container engine has not answered for 0.02 s.",
    hint: expect.stringContaining("start it again"),
  });
  for (const each of connections) each.destroy();
  server.close();
  rmSync(folder, { recursive: true });
});

test("an engine that is not there is an error that states what to do", async () => {
  await expect(connect("/none.sock")).rejects.toMatchObject({
    code: "SANDBOX_FAILED",
    message: "The container engine at /none.sock cannot be reached: there is no such socket.",
    hint: expect.stringContaining("Start Docker, or Podman"),
  });
});
