import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./repository.mjs";
import { ScriptError } from "./script.mjs";

/**
 * Returns the text files of a commit, or those of the working tree that git does not ignore.
 * @param {string | undefined} commit @param {(path: string) => boolean} isWanted
 * @returns {{ path: string, text: string }[]}
 */
export function filesOf(commit, isWanted) {
  return commit === undefined ? workingFiles(isWanted) : committedFiles(commit, isWanted);
}

/** @param {(path: string) => boolean} isWanted */
function workingFiles(isWanted) {
  return git(["ls-files", "--cached", "--others", "--exclude-standard"])
    .split("\n")
    .filter((path) => isWanted(path) && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** @param {string} commit @param {(path: string) => boolean} isWanted */
function committedFiles(commit, isWanted) {
  const paths = git(["ls-tree", "-r", "--name-only", commit]).split("\n").filter(isWanted);
  const input = paths.map((path) => `${commit}:${path}\n`).join("");
  const output = git(["cat-file", "--batch"], input, "latin1");
  let at = 0;
  return paths.map((path) => {
    const start = output.indexOf("\n", at) + 1;
    const size = Number(output.slice(at, start).trim().split(" ").at(-1));
    at = start + size + 1;
    return { path, text: Buffer.from(output.slice(start, start + size), "latin1").toString("utf8") };
  });
}

/** @param {string[]} args @param {string} [input] @param {BufferEncoding} [encoding] */
function git(args, input, encoding = "utf8") {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, input, encoding, maxBuffer: 2 ** 30 });
  if (status !== 0) throw new ScriptError(`git ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}
