import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { encodeGroups } from "../src/encoded-groups.ts";
import { StoreDatabase } from "../src/store-database.ts";
import { cohort, playedGroups } from "./support/episodes.ts";

const program = fileURLToPath(new URL("support/on-a-disk.ts", import.meta.url));
const SMALL = ["--size", String(1 << 20), "--tmpfs"];
const canMount = spawnSync("bwrap", ["--dev-bind", "/", "/", ...SMALL, "/mnt", "--", "true"]).status === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-store-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The results of a process in which `folder` is mounted in another way. */
function inMount(mount: readonly string[], mode: string): unknown[] {
  const command = [
    process.execPath,
    "--conditions=mrlm-source",
    "--disable-warning=ExperimentalWarning",
    program,
    folder,
    mode,
  ];
  const { stdout, stderr } = spawnSync("bwrap", ["--dev-bind", "/", "/", ...mount, "--", ...command], {
    encoding: "utf8",
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as unknown[];
}

(canMount ? test : test.skip)(
  "a disk that is full while a batch is logged: an error each time, and the same batch when there is room (skipped without bubblewrap)",
  () => {
    const refused = {
      code: "STORE_FAILED",
      message: expect.stringMatching(/episodes\.sqlite found no space on the disk/),
      hint: expect.stringMatching(/Free space/),
    };
    const groups = ["0/policy/1/0/0/g0", "0/policy/1/0/0/g1"];
    expect(inMount([...SMALL, folder], "full")).toEqual([refused, refused, groups, true]);
  },
);

(canMount ? test : test.skip)(
  "a file system that is read-only: a store cannot be opened to write, but queried (skipped without bubblewrap)",
  () => {
    const store = new StoreDatabase({
      path: join(folder, "episodes.sqlite"),
      run: "run",
      purpose: "train",
      endsLeases: true,
    });
    const opened = cohort("0/policy", 1);
    store.open(opened);
    for (const lease of store.lease("worker", 1, 1000))
      store.commit(lease, encodeGroups(playedGroups(opened, 1)), true);
    store.close();
    expect(inMount(["--ro-bind", folder, folder], "read-only")).toEqual([
      {
        code: "STORE_FAILED",
        message: expect.stringMatching(/episodes\.sqlite cannot be (opened|written)/),
        hint: expect.stringMatching(/permissions/),
      },
      [[4]],
      true,
    ]);
  },
);
