import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { MrlmError } from "@mrlm/spec";

/** Which files the options of an environment may name. */
export class DataFiles {
  readonly #root: string | undefined;
  readonly #directory: string;

  /**
   * @param root the folder that holds them all; without one, any file that this process can read
   * @param directory where relative names start when there is no root
   */
  constructor(root?: string, directory = ".") {
    this.#root = root;
    this.#directory = directory;
  }

  /** The absolute path; DATA_FORBIDDEN outside of the root, also by way of a link. */
  pathOf(path: string): string {
    if (this.#root === undefined) return resolve(this.#directory, path);
    const root = real(resolve(this.#root));
    const full = resolve(root, path);
    if (!isInside(root, full) || !isInside(root, real(full))) {
      throw new MrlmError("DATA_FORBIDDEN", `The file ${JSON.stringify(path)} is not below the folder that this server shares.`, {
        hint: "Name a file relative to that folder; the operator chooses it with `mrlm serve --data-root`.",
      });
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
