import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/spec";
import { Episode } from "./support.ts";

const SECRET = "outside-of-the-root";

let outside: string;
let server: Server;
let before: string;
let attempts = 0;
let through = 0;

beforeAll(async () => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), "mrlm-out-")));
  writeFileSync(join(outside, "secret.txt"), SECRET);
  mkdirSync(join(outside, "folder"));
  writeFileSync(join(outside, "folder", "secret.txt"), SECRET);
  server = createServer().listen(join(outside, "socket"));
  await new Promise((resolve) => server.once("listening", resolve));
  before = snapshot(outside);
});

afterAll(() => {
  server.close();
  rmSync(outside, { recursive: true });
});

/** Returns a digest of names, kinds, links, modes and contents below a directory. */
function snapshot(directory: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()) {
    const path = join(directory, name);
    const stats = lstatSync(path);
    hash.update(`${name}\0${stats.mode}\0${stats.size}\0`);
    if (stats.isFile()) hash.update(readFileSync(path));
    if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
  }
  return hash.digest("hex");
}

/** Calls of every tool that reach for one path. */
function callsOf(path: string): (readonly [tool: string, args: JsonObject])[] {
  return [
    ["read_file", { path }],
    ["list_files", { path }],
    ["list_files", { path, recursive: true }],
    ["search_files", { text: SECRET.slice(0, 7), path }],
    ["write_file", { path, content: "replaced" }],
    ["edit_file", { path, old_text: SECRET, new_text: "replaced" }],
    ["move_file", { from: path, to: "taken" }],
    ["read_file", { path: "taken" }],
    ["move_file", { from: "own.txt", to: path }],
    ["delete_file", { path }],
  ];
}

/** Makes calls, each of which counts as an attempt. It is through if it returns content from outside, or changes something there. */
async function attack(episode: Episode, calls: readonly (readonly [string, JsonObject])[]): Promise<void> {
  for (const [tool, args] of calls) {
    attempts++;
    const text = await episode.text(tool, args);
    const isPathShown = [outside, "/proc/"].some((path) => text.includes(path) && !JSON.stringify(args).includes(path));
    const isThrough = text.includes(SECRET) || isPathShown || snapshot(outside) !== before;
    if (isThrough) through++;
    expect({ tool, args, text, isThrough }).toMatchObject({ isThrough: false });
  }
}

describe("paths", () => {
  const names = (): string[] => [
    "../secret.txt",
    "..",
    "../",
    "../..",
    "a/../../secret.txt",
    "folder/../../secret.txt",
    "./../secret.txt",
    ".//..//secret.txt",
    "a/b/c/../../../../secret.txt",
    `${"../".repeat(64)}etc/passwd`,
    join(outside, "secret.txt"),
    `/${outside}/secret.txt`,
    `//${outside}/secret.txt`,
    `./${outside}/secret.txt`,
    "/",
    "/etc/passwd",
    "/proc/self/fd/3/secret.txt",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/package.json",
    "/proc/self/environ",
    "/dev/stdin",
    "/dev/fd/3",
    "proc/self/fd/3",
    "..\\secret.txt",
    "a\\..\\..\\secret.txt",
    "\\\\?\\C:\\secret.txt",
    "C:\\secret.txt",
    "C:/secret.txt",
    `file://${outside}/secret.txt`,
    "~/secret.txt",
    "~root/secret.txt",
    "$HOME/secret.txt",
    "%2e%2e/secret.txt",
    "%2e%2e%2fsecret.txt",
    "..%2fsecret.txt",
    "..%c0%afsecret.txt",
    "....//secret.txt",
    "..;/secret.txt",
    ".. /secret.txt",
    " ../secret.txt",
    "..\0/secret.txt",
    "own.txt\0/../../secret.txt",
    "\0",
    "..\n/secret.txt",
    "\u202e../secret.txt",
    "..\u202e/secret.txt",
    "\u200b../secret.txt",
    "..\u200d/secret.txt",
    "．．/secret.txt",
    "‥/secret.txt",
    "../SECRET.TXT",
    "OWN.TXT/../../secret.txt",
    "\ud800/../secret.txt",
    "\u2215..\u2215secret.txt",
    "a".repeat(300),
    `${"a".repeat(300)}/../../secret.txt`,
    "ä".repeat(150),
    "a/".repeat(200),
    "./".repeat(2_000),
    `{..,x}/secret.txt`,
    "*/secret.txt",
    "../roots/0/own.txt",
    "../../staging/x",
    "-rf",
    "|cat ../secret.txt",
  ];

  test("no path of a policy leaves the root", async () => {
    for (const path of names()) {
      const episode = await Episode.open({ "own.txt": "own", "folder/file.txt": "own" });
      await attack(episode, callsOf(path));
      expect(await episode.close()).toEqual([]);
    }
    expect(names().length).toBeGreaterThanOrEqual(60);
  });
});

describe("entries that another program placed in the root", () => {
  const isRoot = process.getuid?.() === 0;
  const placements: Record<string, (root: string) => void> = {
    "link to a file": (root) => symlinkSync(join(outside, "secret.txt"), join(root, "x")),
    "relative link to a file": (root) => symlinkSync(relative(root, join(outside, "secret.txt")), join(root, "x")),
    "link to a directory": (root) => symlinkSync(outside, join(root, "x")),
    "link to the root directory": (root) => symlinkSync("/", join(root, "x")),
    "link to a link": (root) => {
      symlinkSync("y", join(root, "x"));
      rmSync(join(root, "y"), { force: true });
      symlinkSync(outside, join(root, "y"));
    },
    "link to a missing file": (root) => symlinkSync(join(outside, "new.txt"), join(root, "x")),
    "link to itself": (root) => symlinkSync("x", join(root, "x")),
    "link to the parent": (root) => symlinkSync("..", join(root, "x")),
    "link to the descriptors of the process": (root) => symlinkSync("/proc/self/fd", join(root, "x")),
    "link to the working directory": (root) => symlinkSync("/proc/self/cwd", join(root, "x")),
    "link to a device": (root) => symlinkSync("/dev/zero", join(root, "x")),
    "link to standard input": (root) => symlinkSync("/dev/stdin", join(root, "x")),
    "hard link": (root) => linkSync(join(outside, "secret.txt"), join(root, "x")),
    pipe: (root) => void execFileSync("mkfifo", [join(root, "x")]),
    socket: (root) => linkSync(join(outside, "socket"), join(root, "x")),
    ...(isRoot ? { device: (root: string) => void execFileSync("mknod", [join(root, "x"), "c", "1", "5"]) } : {}),
  };

  test.each(Object.keys(placements))("%s", async (name) => {
    const episode = await Episode.open({ "own.txt": "own", "folder/file.txt": "own" });
    for (const folder of ["", "folder"]) {
      const root = join(episode.root, folder);
      const path = folder === "" ? "x" : `${folder}/x`;
      for (const call of [
        ...callsOf(path),
        ...callsOf(`${path}/secret.txt`).slice(0, 6),
        ["delete_file", { path: folder || "none" }] as const,
      ]) {
        mkdirSync(root, { recursive: true });
        rmSync(join(root, "x"), { force: true, recursive: true });
        placements[name]!(root);
        await attack(episode, [
          call,
          ["list_files", { recursive: true }],
          ["search_files", { text: SECRET.slice(0, 7) }],
        ]);
      }
    }
    expect(await episode.close()).toEqual([]);
    expect(snapshot(outside)).toBe(before);
  });

  test("names that are not UTF-8, deep directories and directories without permissions are removed with the root", async () => {
    const episode = await Episode.open();
    const bytes = Buffer.concat([Buffer.from(`${episode.root}/`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(bytes);
    writeFileSync(Buffer.concat([bytes, Buffer.from("/f")]), SECRET);
    mkdirSync(join(episode.root, ...Array.from({ length: 100 }, () => "d")), { recursive: true });
    mkdirSync(join(episode.root, "closed"));
    chmodSync(join(episode.root, "closed"), 0);
    expect(await episode.text("list_files", {})).toContain("d/");
    expect(await episode.close()).toEqual([]);
  });
});

// Other systems cannot detect an exchange between two steps: see "Not confined" in the README.
(process.platform === "linux" ? describe : describe.skip).each([
  ["directory", "folder", "mkdirSync(next); writeFileSync(next + '/secret.txt', 'own');"],
  ["file", "folder/secret.txt", "writeFileSync(next, 'own');"],
])("while another thread exchanges a %s and a link to one", (_kind, target, make) => {
  test("no call leaves the root", async () => {
    const episode = await Episode.open({ "own.txt": "own" });
    const swaps = new Int32Array(new SharedArrayBuffer(8));
    const code = `
      const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
      const { root, path, link, swaps } = require("node:worker_threads").workerData;
      const next = root + "/.next";
      for (let i = 0; Atomics.load(swaps, 1) === 0; i++) {
        try {
          rmSync(next, { recursive: true, force: true });
          if (i % 2 === 0) symlinkSync(link, next);
          else { ${make} }
          mkdirSync(require("node:path").dirname(path), { recursive: true });
          rmSync(path, { recursive: true, force: true });
          renameSync(next, path);
          Atomics.add(swaps, 0, 1);
        } catch {}
      }`;
    const link = join(outside, target);
    const worker = new Worker(code, {
      eval: true,
      workerData: { root: episode.root, path: join(episode.root, target), link, swaps },
    });
    const calls = callsOf("folder/secret.txt").concat(callsOf("folder"), [["list_files", { recursive: true }]]);
    while (Atomics.load(swaps, 0) < 2_000) {
      for (const [tool, args] of calls) {
        attempts++;
        // Another program changes the root: an unscored call (TOOL_FAILED) is an outcome as well.
        const text = await episode.text(tool, args).catch((error: Error) => error.message);
        if (text.includes(SECRET) || snapshot(outside) !== before) through++;
      }
    }
    Atomics.store(swaps, 1, 1);
    await new Promise((resolve) => worker.once("exit", resolve));
    expect(through).toBe(0);
    expect(await episode.close()).toEqual([]);
    expect(snapshot(outside)).toBe(before);
  });
});

test("at least 60 attempts were made and none was through", () => {
  console.info(`traversal_attempts: ${attempts}, traversal_through: ${through}`);
  expect(attempts).toBeGreaterThanOrEqual(60);
  expect(through).toBe(0);
});
