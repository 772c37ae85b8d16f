import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { cacheDirectory } from "@mrlm/kit/service";
import type { CaseConfig } from "./cases.ts";
import { isAlive } from "../e2e/support/mrlm.ts";

/** Commits whose runs are kept, about 100 MB each. */
const KEPT = 3;
/** Variables that choose other kernels, and with them other last bits. */
const KERNELS = ["ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA"];

/** A clone of the base commit in the user's cache, for one comparison at a time, with the runs of the bases of earlier comparisons. */
export class BaseTree {
  readonly commit: string;
  readonly directory: string;
  readonly #lock: string;
  readonly #runs: string;
  readonly #root: string;

  /**
   * @param root the repository
   * @param revision of the base
   * @throws where there is no such commit, or another comparison is running
   */
  constructor(root: string, revision: string) {
    this.#root = root;
    this.commit = commitOf(root, revision);
    // Every worktree of a repository shares its clone.
    const repository = createHash("sha256")
      .update(resolve(root, git(root, "rev-parse", "--git-common-dir")))
      .digest("hex")
      .slice(0, 12);
    const cache = join(cacheDirectory(), "same-bits", repository);
    this.directory = join(cache, "tree");
    this.#runs = join(cache, "runs");
    this.#lock = join(cache, "lock");
    mkdirSync(this.#runs, { recursive: true });
    this.#acquire();
  }

  /** Checks the commit out, in the worktree of an earlier base where there is one. */
  checkOut(): void {
    if (this.#isWorktree()) return void git(this.directory, "checkout", "--detach", "--force", "--quiet", this.commit);
    rmSync(this.directory, { recursive: true, force: true });
    git(this.#root, "worktree", "prune");
    git(this.#root, "worktree", "add", "--detach", "--quiet", this.directory, this.commit);
  }

  /** Installs packages by npm ci, bundles, and makes the engine's environment, each only where something has changed. */
  setUp(): void {
    execFileSync(process.execPath, ["scripts/setup.mjs"], {
      cwd: this.directory,
      stdio: ["ignore", 2, 2],
      env: { ...process.env, NODE_OPTIONS: "" },
    });
  }

  /** Returns the folder for the run of a case, the same for the same commit, configuration and processor. */
  folderOf(name: string, { config }: CaseConfig): string {
    const key = JSON.stringify([config, cpus()[0]?.model, KERNELS.map((variable) => process.env[variable])]);
    return join(
      this.#runs,
      this.commit,
      `${name.replaceAll("/", "-")}-${createHash("sha256").update(key).digest("hex").slice(0, 12)}`,
    );
  }

  /** Removes the runs of all but the commits compared with last, and the lock. */
  release(): void {
    const folder = join(this.#runs, this.commit);
    if (existsSync(folder)) utimesSync(folder, new Date(), new Date());
    const commits = readdirSync(this.#runs).map((name) => join(this.#runs, name));
    const newest = commits.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
    for (const old of newest.slice(KEPT)) rmSync(old, { recursive: true, force: true });
    rmSync(this.#lock, { force: true });
  }

  #isWorktree(): boolean {
    try {
      return (
        existsSync(join(this.directory, ".git")) && git(this.directory, "rev-parse", "--is-inside-work-tree") === "true"
      );
    } catch {
      return false;
    }
  }

  #acquire(): void {
    try {
      writeFileSync(this.#lock, String(process.pid), { flag: "wx" });
    } catch (cause) {
      const owner = Number(readFileSync(this.#lock, "utf8"));
      if (isAlive(owner))
        throw new Error(`Process ${owner} is running a comparison in this repository. Wait for its end.`, { cause });
      writeFileSync(this.#lock, String(process.pid));
    }
  }
}

function commitOf(root: string, revision: string): string {
  try {
    return git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`);
  } catch (cause) {
    throw new Error(`"${revision}" is not a commit of this repository.`, { cause });
  }
}

function git(directory: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd: directory, encoding: "utf8" }).trim();
}
