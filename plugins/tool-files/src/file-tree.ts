import { randomUUID } from "node:crypto";
import type { Stats } from "node:fs";
import { type Directory, requireFile } from "./directory.ts";
import { Refused } from "./refused.ts";
import { removeEntry, type Usage } from "./remove-entry.ts";

/** Limits of the files of one episode. */
export interface Quota {
  /** Bytes of all files. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** Files and directories. */
  readonly entries: number;
  /** Names of a path. */
  readonly depth: number;
}

/** Files below a root. Callers call one method at a time: the quota counts what the methods of this object change. */
export class FileTree {
  readonly #openRoot: () => Promise<Directory>;
  readonly #staging: Directory;
  readonly #quota: Quota;
  #used: Usage = { bytes: 0, entries: 0 };

  /**
   * @param openRoot opens the root
   * @param staging directory on the same file system, outside of the root, where files are written before they get their name
   */
  constructor({ openRoot, staging, quota }: { openRoot: () => Promise<Directory>; staging: Directory; quota: Quota }) {
    this.#openRoot = openRoot;
    this.#staging = staging;
    this.#quota = quota;
  }

  async read(path: string): Promise<Buffer> {
    return await this.#inParent(
      path,
      async (parent, name) => await parent.read(name, { path, maxBytes: this.#quota.fileBytes }),
    );
  }

  /** Reads an entry that `entries` returned. Returns undefined for one that is no longer a file, or too long. */
  async readEntry(parent: Directory, name: Buffer): Promise<Buffer | undefined> {
    try {
      return await parent.read(name, { path: "", maxBytes: this.#quota.fileBytes });
    } catch (error) {
      if (error instanceof Refused || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Writes a file, replaces an earlier one, and creates its directories. The file is either replaced as a whole or unchanged. */
  async write(path: string, content: Uint8Array): Promise<void> {
    this.requireFileSize(content.length);
    const names = this.#namesOf(path);
    await this.#inNewParent(names, { bytes: content.length, entries: 1 }, async (parent, name) => {
      const before = await parent.lstat(name);
      const freed = before === undefined ? 0 : requireFile(before, path).size;
      this.#reserve({ bytes: content.length - freed, entries: before === undefined ? 1 : 0 });
      const temporary = randomUUID();
      try {
        await this.#staging.create(temporary, content);
        await this.#staging.rename(temporary, parent, name);
      } catch (error) {
        await removeEntry(this.#staging, temporary);
        throw error;
      }
      this.#use({ bytes: content.length - freed, entries: before === undefined ? 1 : 0 });
    });
  }

  /** Throws Refused for a file with more bytes than the quota permits. */
  requireFileSize(bytes: number): void {
    if (bytes <= this.#quota.fileBytes) return;
    throw new Refused(`The content has ${bytes} bytes; the limit of a file is ${this.#quota.fileBytes}`);
  }

  /** Removes a file, or a directory with all that it contains. Returns the number of removed entries. */
  async remove(path: string): Promise<number> {
    return await this.#inParent(path, async (parent, name) => {
      const removed = await removeEntry(parent, name);
      if (removed.entries === 0) throw new Refused(`${path} does not exist`);
      this.#use({ bytes: -removed.bytes, entries: -removed.entries });
      return removed.entries;
    });
  }

  /** Moves a file or a directory to a path that does not exist, and creates the directories of that path. */
  async move(from: string, to: string): Promise<void> {
    const [source, target] = [this.#namesOf(from), this.#namesOf(to)];
    if (source.every((name, index) => target[index] === name)) {
      throw new Refused(`${from} cannot be moved to itself or into itself`);
    }
    await this.#inParent(from, async (parent, name) => {
      const stats = await parent.lstat(name);
      if (stats === undefined) throw new Refused(`${from} does not exist`);
      if (!stats.isDirectory()) requireFile(stats, from);
      const height = stats.isDirectory() ? await this.#heightOf(parent, name) : 1;
      if (target.length - 1 + height > this.#quota.depth) {
        throw new Refused(
          `${to} would have paths of ${target.length - 1 + height} names; the limit is ${this.#quota.depth}`,
        );
      }
      await this.#inNewParent(target, { bytes: 0, entries: 0 }, async (targetParent, targetName) => {
        if ((await targetParent.lstat(targetName)) !== undefined) throw new Refused(`${to} exists already`);
        await parent.rename(name, targetParent, targetName);
      });
    });
  }

  /** Visits the entries of a directory. A `depth` of 1 visits only its own. */
  async *entries(path: string, depth = this.#quota.depth): AsyncGenerator<Found> {
    const directory = await this.#openDirectory(parsePath(path, this.#quota.depth));
    try {
      yield* walk(directory, depth);
    } finally {
      await directory.close();
    }
  }

  #namesOf(path: string): string[] {
    const names = parsePath(path, this.#quota.depth);
    if (names.length === 0) throw new Refused("The path names the root. Add the name of a file or a directory");
    return names;
  }

  /** Opens a directory, name by name. */
  async #openDirectory(names: readonly string[]): Promise<Directory> {
    const { directory, missing } = await this.#descend(names);
    if (missing.length === 0) return directory;
    await directory.close();
    throw new Refused(`${names.slice(0, names.length - missing.length + 1).join("/")} does not exist`);
  }

  /** Opens the deepest directory of a path that exists. */
  async #descend(names: readonly string[]): Promise<{ directory: Directory; missing: readonly string[] }> {
    let directory = await this.#openRoot();
    for (const [index, name] of names.entries()) {
      const child = await directory.child(name);
      if (child === undefined) {
        if ((await directory.lstat(name)) === undefined) return { directory, missing: names.slice(index) };
        await directory.close();
        throw new Refused(`${names.slice(0, index + 1).join("/")} is not a directory`);
      }
      await directory.close();
      directory = child;
    }
    return { directory, missing: [] };
  }

  /** Calls `act` with the directory and the name of a path. */
  async #inParent<T>(path: string, act: (parent: Directory, name: string) => Promise<T>): Promise<T> {
    const names = this.#namesOf(path);
    const parent = await this.#openDirectory(names.slice(0, -1));
    try {
      return await act(parent, names.at(-1)!);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT")
        throw new Refused(`${path} does not exist`, { cause: error });
      throw error;
    } finally {
      await parent.close();
    }
  }

  /** Creates the missing directories of a path, if the quota permits them and what `act` adds, and calls `act`. */
  async #inNewParent(
    names: readonly string[],
    added: Usage,
    act: (parent: Directory, name: string) => Promise<void>,
  ): Promise<void> {
    const { directory, missing } = await this.#descend(names.slice(0, -1));
    let parent = directory;
    try {
      if (missing.length > 0) this.#reserve({ ...added, entries: missing.length + added.entries });
      for (const name of missing) {
        await parent.makeDirectory(name);
        this.#use({ bytes: 0, entries: 1 });
        const child = await parent.child(name);
        if (child === undefined) throw new Refused(`${name} was replaced meanwhile`);
        await parent.close();
        parent = child;
      }
      await act(parent, names.at(-1)!);
    } finally {
      await parent.close();
    }
  }

  /** Returns the number of names in the longest path of a directory, including its own. */
  async #heightOf(parent: Directory, name: string): Promise<number> {
    const directory = await parent.child(name);
    let height = 1;
    if (directory === undefined) return height;
    try {
      for await (const { names } of walk(directory, this.#quota.depth)) height = Math.max(height, names.length + 1);
    } finally {
      await directory.close();
    }
    return height;
  }

  #reserve({ bytes, entries }: Usage): void {
    const total = { bytes: this.#used.bytes + bytes, entries: this.#used.entries + entries };
    if (bytes > 0 && total.bytes > this.#quota.bytes) {
      throw new Refused(
        `The files would have ${total.bytes} bytes; the limit is ${this.#quota.bytes}. Delete files that are not needed`,
      );
    }
    if (entries > 0 && total.entries > this.#quota.entries) {
      throw new Refused(
        `There would be ${total.entries} files and directories; the limit is ${this.#quota.entries}. Delete some`,
      );
    }
  }

  #use({ bytes, entries }: Usage): void {
    this.#used = {
      bytes: Math.max(0, this.#used.bytes + bytes),
      entries: Math.max(0, this.#used.entries + entries),
    };
  }
}

/** Entry found by `walk`. */
interface Found {
  /** Names below the directory where the walk began. Bytes that are not UTF-8 are replaced. */
  readonly names: readonly string[];
  readonly name: Buffer;
  readonly parent: Directory;
  readonly stats: Stats;
}

/** Visits the entries of a directory, each directory before its content, in the order of the names' bytes. Follows no links. */
async function* walk(directory: Directory, depth: number, above: readonly string[] = []): AsyncGenerator<Found> {
  for (const name of await directory.names()) {
    const stats = await directory.lstat(name);
    if (stats === undefined) continue; // removed meanwhile
    const names = [...above, name.toString()];
    yield { names, name, parent: directory, stats };
    if (!stats.isDirectory() || depth <= 1) continue;
    const child = await directory.child(name);
    if (child === undefined) continue;
    try {
      yield* walk(child, depth - 1, names);
    } finally {
      await child.close();
    }
  }
}

/** UTF-8 bytes of a name: the limit of the common file systems. */
const NAME_BYTES = 255;

/** Control and format characters, line separators and private-use characters: they hide or reorder what a path shows. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/u;

/**
 * Splits a path below the root into names. `.`, empty names and a final slash are ignored; a policy has no other way to leave a directory than `..`, an
 * absolute path or a link, and this function permits neither of the first two.
 * @returns an empty array for the root
 * @throws Refused for any other path, with the reason
 */
export function parsePath(path: string, maxDepth: number): string[] {
  if (!path.isWellFormed()) throw new Refused("The path contains an unpaired surrogate");
  if (path.startsWith("/"))
    throw new Refused("Absolute paths are not supported: a path begins below the root, such as notes/a.txt");
  if (path.includes("\\")) throw new Refused("The path contains a backslash: separate names by /");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (const name of names) {
    if (name === "..") throw new Refused("The path contains ..: a path begins at the root and does not leave it");
    if (INVISIBLE.test(name)) throw new Refused("The path contains an invisible or control character");
    if (Buffer.byteLength(name) > NAME_BYTES)
      throw new Refused(`A name of the path is longer than ${NAME_BYTES} bytes`);
  }
  if (names.length > maxDepth) throw new Refused(`The path has ${names.length} names; the limit is ${maxDepth}`);
  return names;
}
