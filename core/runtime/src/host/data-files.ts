import { createHash } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { filesBelow, sha256OfFile } from "../run/atomic-write.ts";

/** Resolves names of files that options hold. */
export interface FileNames {
  pathOf(path: string): string;
}

/** Files that the options of an environment may name. */
export class DataFiles implements FileNames {
  readonly #root: string | undefined;
  readonly #directory: string;

  /**
   * @param root folder that contains all of them; default: any file that this process can read
   * @param directory base of relative names without a root
   */
  constructor(root?: string, directory = ".") {
    this.#root = root;
    this.#directory = directory;
  }

  /** Returns the absolute path. Throws DATA_FORBIDDEN for a file outside the root, also through a link. */
  pathOf(path: string): string {
    if (this.#root === undefined) return resolve(this.#directory, path);
    const root = real(resolve(this.#root));
    const full = resolve(root, path);
    if (!isInside(root, full) || !isInside(root, real(full))) {
      throw new MrlmError(
        "DATA_FORBIDDEN",
        `The file ${JSON.stringify(path)} is not below the folder that this server shares.`,
        {
          hint: "Name a file relative to that folder; the operator chooses it with `mrlm serve --data-root`.",
        },
      );
    }
    return full;
  }
}

function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Record of resolved names, with the hashes of their contents. */
export class RecordedFiles implements FileNames {
  readonly #files: FileNames;
  readonly #paths = new Map<string, string>();

  constructor(files: FileNames) {
    this.#files = files;
  }

  pathOf(path: string): string {
    const full = this.#files.pathOf(path);
    this.#paths.set(path, full);
    return full;
  }

  /**
   * Returns the SHA-256 of each file by its name; of a folder, over its contents. Omits missing files, and pipes and devices: reading one again could block or
   * never end.
   */
  async hashes(): Promise<Readonly<Record<string, string>> | undefined> {
    const existing = [...this.#paths].filter(([, full]) => isStored(full));
    if (existing.length === 0) return undefined;
    return Object.fromEntries(
      await Promise.all(existing.map(async ([path, full]) => [path, await hashOf(full)] as const)),
    );
  }
}

function isStored(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true || stat?.isDirectory() === true;
}

async function hashOf(path: string): Promise<string> {
  if (!statSync(path).isDirectory()) return sha256OfFile(path);
  const whole = createHash("sha256");
  for (const file of filesBelow(path)) whole.update(`${file}\0${await sha256OfFile(join(path, file))}\n`);
  return whole.digest("hex");
}
