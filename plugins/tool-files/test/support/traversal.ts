import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
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
import type { JsonObject } from "@mrlm/kit";
import { Episode } from "./episode.ts";

const SECRET = "outside-of-the-root";

type Call = readonly [tool: string, args: JsonObject];

/** Directory outside of every root, and attempts to read or change it. */
export class Outside {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "mrlm-out-")));
  /** Calls that were made. */
  attempts = 0;
  /** Attempts that returned content from outside, or changed something there. */
  readonly through: string[] = [];
  readonly #server: Server;
  readonly #before: string;

  private constructor(server: (socket: string) => Server) {
    writeFileSync(join(this.path, "secret.txt"), SECRET);
    mkdirSync(join(this.path, "folder"));
    writeFileSync(join(this.path, "folder", "secret.txt"), SECRET);
    this.#server = server(join(this.path, "socket"));
    this.#before = this.#snapshot();
  }

  static async create(): Promise<Outside> {
    const server = createServer();
    const listening = new Promise((resolve) => server.once("listening", resolve));
    const outside = new Outside((socket) => server.listen(socket));
    await listening;
    return outside;
  }

  close(): void {
    this.#server.close();
    rmSync(this.path, { recursive: true });
  }

  /** Calls every tool with a path that leaves the root, in an episode of its own. */
  async attackPath(path: string): Promise<void> {
    const episode = await Episode.open({ "own.txt": "own", "folder/file.txt": "own" });
    for (const call of callsOf(path)) await this.#attack(episode, call);
    await this.#close(episode);
  }

  /** Calls every tool with an entry that another program placed in the root, at its top and in a directory. */
  async attackEntry(place: (root: string, outside: string) => void): Promise<void> {
    const episode = await Episode.open({ "own.txt": "own", "folder/file.txt": "own" });
    for (const folder of ["", "folder"]) {
      const root = join(episode.root, folder);
      const path = folder === "" ? "x" : `${folder}/x`;
      const calls: Call[] = [
        ...callsOf(path),
        ...callsOf(`${path}/secret.txt`).slice(0, 6),
        ["delete_file", { path: folder || "none" }],
      ];
      for (const call of calls) {
        mkdirSync(root, { recursive: true });
        rmSync(join(root, "x"), { force: true, recursive: true });
        place(root, this.path);
        await this.#attack(episode, call);
        await this.#attack(episode, ["list_files", { recursive: true }]);
        await this.#attack(episode, ["search_files", { text: SECRET.slice(0, 7) }]);
      }
    }
    await this.#close(episode);
  }

  /** Calls every tool while another thread exchanges an entry and a link to one outside, a number of times. */
  async attackDuringExchange(kind: "file" | "directory", exchanges: number): Promise<void> {
    const episode = await Episode.open({ "own.txt": "own", "folder/file.txt": "own" });
    const target = kind === "file" ? "folder/secret.txt" : "folder";
    const swaps = new Int32Array(new SharedArrayBuffer(8));
    const workerData = {
      path: join(episode.root, target),
      next: join(episode.root, ".next"),
      link: join(this.path, target),
      swaps,
    };
    const worker = new Worker(exchangeProgram(kind), { eval: true, workerData });
    const calls: Call[] = [...callsOf("folder/secret.txt"), ...callsOf("folder"), ["list_files", { recursive: true }]];
    while (Atomics.load(swaps, 0) < exchanges) {
      for (const [tool, args] of calls) {
        this.attempts++;
        // Another program changes the root: a call that fails (TOOL_FAILED) is an outcome as well.
        const text = await episode.text(tool, args).catch((error: Error) => error.message);
        if (text.includes(SECRET)) this.through.push(`${tool} during an exchange of a ${kind}`);
      }
    }
    Atomics.store(swaps, 1, 1);
    await new Promise((resolve) => worker.once("exit", resolve));
    await this.#close(episode);
  }

  async #attack(episode: Episode, [tool, args]: Call): Promise<void> {
    this.attempts++;
    const text = await episode.text(tool, args);
    const isPathShown = [this.path, "/proc/"].some(
      (path) => text.includes(path) && !JSON.stringify(args).includes(path),
    );
    if (text.includes(SECRET) || isPathShown || this.#snapshot() !== this.#before)
      this.through.push(`${tool} ${JSON.stringify(args)}: ${text}`);
  }

  async #close(episode: Episode): Promise<void> {
    const left = await episode.close();
    if (left.length > 0) this.through.push(`left after the episode: ${left.join(", ")}`);
    if (this.#snapshot() !== this.#before) this.through.push("a change outside of the root");
  }

  /** Returns a digest of names, kinds, links, modes and contents. */
  #snapshot(): string {
    const hash = createHash("sha256");
    for (const name of readdirSync(this.path, { recursive: true, encoding: "utf8" }).sort()) {
      const path = join(this.path, name);
      const stats = lstatSync(path);
      hash.update(`${name}\0${stats.mode}\0${stats.size}\0`);
      if (stats.isFile()) hash.update(readFileSync(path));
      if (stats.isSymbolicLink()) hash.update(readlinkSync(path));
    }
    return hash.digest("hex");
  }
}

/** Returns the program of the thread that exchanges entries. */
function exchangeProgram(kind: "file" | "directory"): string {
  const make =
    kind === "file" ? "writeFileSync(next, 'own')" : "mkdirSync(next); writeFileSync(next + '/secret.txt', 'own')";
  return `
    const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require("node:fs");
    const { path, next, link, swaps } = require("node:worker_threads").workerData;
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
}

/** Calls of every tool that reach for one path. */
function callsOf(path: string): Call[] {
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

/** Paths of a policy that would leave the root. */
export function pathAttempts(outside: string): readonly string[] {
  return [
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
}

const isRoot = process.getuid?.() === 0;

/** Entries that another program may place in the root, as `x`. */
export const entries: Readonly<Record<string, (root: string, outside: string) => void>> = {
  "link to a file": (root, outside) => symlinkSync(join(outside, "secret.txt"), join(root, "x")),
  "relative link to a file": (root, outside) =>
    symlinkSync(relative(root, join(outside, "secret.txt")), join(root, "x")),
  "link to a directory": (root, outside) => symlinkSync(outside, join(root, "x")),
  "link to the root directory": (root) => symlinkSync("/", join(root, "x")),
  "link to a link": (root, outside) => {
    symlinkSync("y", join(root, "x"));
    rmSync(join(root, "y"), { force: true });
    symlinkSync(outside, join(root, "y"));
  },
  "link to a missing file": (root, outside) => symlinkSync(join(outside, "new.txt"), join(root, "x")),
  "link to itself": (root) => symlinkSync("x", join(root, "x")),
  "link to the parent": (root) => symlinkSync("..", join(root, "x")),
  "link to the descriptors of the process": (root) => symlinkSync("/proc/self/fd", join(root, "x")),
  "link to the working directory": (root) => symlinkSync("/proc/self/cwd", join(root, "x")),
  "link to a device": (root) => symlinkSync("/dev/zero", join(root, "x")),
  "link to standard input": (root) => symlinkSync("/dev/stdin", join(root, "x")),
  "hard link": (root, outside) => linkSync(join(outside, "secret.txt"), join(root, "x")),
  pipe: (root) => void execFileSync("mkfifo", [join(root, "x")]),
  socket: (root, outside) => linkSync(join(outside, "socket"), join(root, "x")),
  ...(isRoot ? { device: (root: string) => void execFileSync("mknod", [join(root, "x"), "c", "1", "5"]) } : {}),
};
