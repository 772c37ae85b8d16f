import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir, hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import {
  type Child,
  describeEnd,
  isAlive,
  listTree,
  onLines,
  startChild,
  hasOwnerEnded,
  ownerLabel,
  temporaryFolder,
  temporaryFolders,
} from "@mrlm/process";
import { startTimeOf } from "../src/running.ts";

/** A process below the leader, and one that has left its group and its parent. */
const FAMILY = "sleep 600 & (setsid sleep 601 &) ; echo ready; wait";

async function started(script: string, hasInput = false): Promise<Child> {
  const child = startChild({ command: "sh", args: ["-c", script], hasInput });
  await new Promise<void>((resolve) => onLines(child, (line) => line === "ready" && resolve()));
  return child;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

const isGone = (pid: number): boolean => startTimeOf(pid) === undefined;

describe("a child", () => {
  test("ends with all that it started, also what left its group", async () => {
    const child = await started(FAMILY);
    await until(() => listTree(child.tree as never).length === 2);
    const pids = listTree(child.tree as never).map(({ pid }) => pid);
    expect(describeEnd(await child.stop())).toBe("ended by SIGKILL");
    expect(pids.filter((pid) => !isGone(pid))).toEqual([]);
  });

  test("that ends by itself takes what it left with it", async () => {
    const child = await started("(setsid sleep 600 &) ; echo ready; sleep 0.2; exit 3");
    await until(() => listTree(child.tree as never).length >= 1);
    expect(await child.ended).toEqual({ code: 3, signal: null });
    expect(listTree(child.tree as never)).toEqual([]);
  });

  test("is asked to end by the end of its input, then by SIGTERM, then killed", async () => {
    const polite = await started("echo ready; cat >/dev/null; exit 4", true);
    expect(await polite.stop({ inputMs: 60_000 })).toEqual({ code: 4, signal: null });
    const trapped = await started("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done", true);
    expect(await trapped.stop({ inputMs: 1, termMs: 60_000 })).toEqual({ code: 5, signal: null });
    const stubborn = await started("trap '' TERM; echo ready; while :; do sleep 0.01; done");
    expect(await stubborn.stop({ inputMs: 1, termMs: 20 })).toMatchObject({ signal: "SIGKILL" });
  });

  test("that cannot be started is described", async () => {
    const child = startChild({ command: "no-such-program" });
    expect(describeEnd(await child.stop())).toBe("could not be started: spawn no-such-program ENOENT");
  });

  test("whose owner is killed ends with its tree, and its folder is removed", async () => {
    const owner = spawn(
      process.execPath,
      ["--conditions=mrlm-source", fileURLToPath(new URL("support/owner.ts", import.meta.url))],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const [line] = (await once(createInterface({ input: owner.stdout }), "line")) as [string];
    const { pids, folder } = JSON.parse(line) as { pids: number[]; folder: string };
    expect(pids).toHaveLength(3);
    expect([pids.every((pid) => !isGone(pid)), existsSync(folder)]).toEqual([true, true]);
    owner.kill("SIGKILL");
    await until(() => pids.every(isGone) && !existsSync(folder));
  });
});

test("the owner of a label has ended where its pid has another start, and not where its pids are others", () => {
  const other = ownerLabel().replace(/^(\d+) \d+/, "$1 1");
  const labels = [ownerLabel(), other, other.replace(/ \S+$/, " pid:[1]"), other.replace(/^(\d+ \d+) \S+/, "$1 x")];
  expect(labels.map((label) => hasOwnerEnded(label))).toEqual([false, true, false, false]);
});

describe("a temporary folder", () => {
  test("of a process that ended is removed by the next one, also where its pid is used again", () => {
    const name = (pid: number, start: number): string => join(tmpdir(), `mrlm-test-${hostname()}-${pid}-${start}-abc`);
    const [ended, reused] = [name(2 ** 22 + 1, 5), name(process.pid, 1)];
    for (const path of [ended, reused]) mkdirSync(path);
    const folder = temporaryFolder("test");
    expect([existsSync(ended), existsSync(reused), temporaryFolders("test")]).toEqual([false, false, [folder.path]]);
    folder.remove();
    expect(readdirSync(tmpdir()).filter((each) => each.startsWith("mrlm-test-" + hostname()))).toEqual([]);
  });
});

test("this process is alive, and one that never was is not", () => {
  expect([isAlive(process.pid), isAlive(2 ** 22 + 1)]).toEqual([true, false]);
});
