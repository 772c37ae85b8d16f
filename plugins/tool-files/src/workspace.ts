import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { MrlmError } from "@mrlm/kit";
import { Directory } from "./directory.ts";
import { FileTree, type Quota } from "./file-tree.ts";
import { removeEntry } from "./remove-entry.ts";

const ROOTS = "roots";
const STAGING = "staging";

/** Root of one episode. */
export interface Root {
  readonly tree: FileTree;
  /** Removes the root with all that it contains. */
  close(): Promise<void>;
}

/** Private directory of this process, with a root for each episode and a directory where files are written before they get their name. */
export class Workspace {
  readonly #path: string;
  readonly #roots: Directory;
  readonly #staging: Directory;
  #count = 0;

  private constructor(path: string, roots: Directory, staging: Directory) {
    this.#path = path;
    this.#roots = roots;
    this.#staging = staging;
  }

  /**
   * Creates the directory, readable by this user only.
   * @param parent an existing directory that other users cannot rename
   */
  static async create(parent: string): Promise<Workspace> {
    requireSupport();
    const path = await mkdtemp(join(await realpath(parent), "mrlm-files-"));
    const [roots, staging] = await Promise.all(
      [ROOTS, STAGING].map(async (name) => {
        await mkdir(join(path, name), 0o700);
        return await Directory.open(Buffer.from(join(path, name)));
      }),
    );
    return new Workspace(path, roots!, staging!);
  }

  /** Creates an empty root. */
  async openRoot(quota: Quota): Promise<Root> {
    const name = String(this.#count++);
    await this.#roots.makeDirectory(name);
    const opened = await this.#roots.child(name);
    const created = await opened?.stat();
    await opened?.close();
    const openRoot = async (): Promise<Directory> => {
      const root = await this.#roots.child(name);
      const stats = await root?.stat();
      if (root !== undefined && stats?.ino === created?.ino && stats?.dev === created?.dev) return root;
      await root?.close();
      throw new Error("the root was removed or replaced by another program");
    };
    const close = async (): Promise<void> => void (await removeEntry(this.#roots, name));
    return { tree: new FileTree({ openRoot, staging: this.#staging, quota }), close };
  }

  /** Removes the directory. Requires that no root is open. */
  async close(): Promise<void> {
    await Promise.all([this.#roots.close(), this.#staging.close()]);
    const directory = await Directory.open(Buffer.from(this.#path));
    try {
      for (const name of [ROOTS, STAGING]) await removeEntry(directory, name);
    } finally {
      await directory.close();
    }
    await rmdir(this.#path);
  }
}

/** Throws TOOL_FAILED on a system that cannot open an entry of an open directory without following links. */
function requireSupport(): void {
  if (process.platform === "win32") {
    throw new MrlmError(
      "TOOL_FAILED",
      "The file tools need files that are opened without following links. Windows has none.",
      {
        hint: "Use Linux or macOS, or the Windows Subsystem for Linux.",
      },
    );
  }
  if (process.platform === "linux" && !existsSync("/proc/self/fd")) {
    throw new MrlmError("TOOL_FAILED", "The file tools need /proc/self/fd, and /proc is not mounted.", {
      hint: "Mount /proc.",
    });
  }
}
