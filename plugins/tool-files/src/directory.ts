import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { Refused } from "./refused.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Opens a file without its content: a device or a pipe has no side effect. From <fcntl.h> of Linux; Node does not export it. */
const O_PATH = 0o10000000;

const isLinux = process.platform === "linux";

/** A name inside a directory. Names that are read from a directory are bytes: they need not be UTF-8. */
export type Name = string | Buffer;

/**
 * Open directory, whose entries are reached through its file descriptor: `/proc/self/fd/N/NAME` is `openat(N, NAME)`, which Node lacks. The directory stays
 * the same if it is renamed or replaced meanwhile. Each method resolves one name, never a link.
 *
 * Other systems have no such path. There the entries are reached through the path that was opened: links are detected in the same way, but a process of the
 * same user that replaces a directory by a link between two calls is not.
 */
export class Directory {
  readonly #handle: FileHandle;
  readonly #path: Buffer;

  private constructor(handle: FileHandle, path: Buffer) {
    this.#handle = handle;
    this.#path = isLinux ? Buffer.from(`/proc/self/fd/${handle.fd}`) : path;
  }

  /** Opens a directory by its path, whose parent must be trusted. A link is ENOTDIR. */
  static async open(path: Buffer): Promise<Directory> {
    return new Directory(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  /** Opens a directory in this one. Returns undefined if there is no such entry, or another one: a file, a link. */
  async child(name: Name): Promise<Directory | undefined> {
    try {
      return await Directory.open(this.#at(name));
    } catch (error) {
      if (ABSENT.has((error as NodeJS.ErrnoException).code)) return undefined;
      throw error;
    }
  }

  /** Returns the state of this directory itself. */
  async stat(): Promise<Stats> {
    return await this.#handle.stat();
  }

  /** Returns the state of an entry, of a link itself, or undefined if there is none. */
  async lstat(name: Name): Promise<Stats | undefined> {
    try {
      return await lstat(this.#at(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** Returns the names of the entries, in the order of their bytes. */
  async names(): Promise<Buffer[]> {
    return (await readdir(this.#path, { encoding: "buffer" })).sort(Buffer.compare);
  }

  /**
   * Reads a regular file with one name. Opens nothing else: neither links, devices and pipes, nor files that have a second name elsewhere.
   * @param path path of the file in messages
   */
  async read(name: Name, { path, maxBytes }: { readonly path: string; readonly maxBytes: number }): Promise<Buffer> {
    const handle = await this.#openFile(name, path);
    try {
      const { size } = requireFile(await handle.stat(), path);
      if (size > maxBytes) throw new Refused(`${path} has ${size} bytes; files of at most ${maxBytes} can be read`);
      // A file that grows meanwhile is not read further.
      const buffer = Buffer.alloc(size);
      let length = 0;
      while (length < size) {
        const { bytesRead } = await handle.read(buffer, length, size - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return buffer.subarray(0, length);
    } finally {
      await handle.close();
    }
  }

  /** Writes a new file. Error: EEXIST, also for a link. */
  async create(name: Name, content: Uint8Array): Promise<void> {
    const handle = await open(this.#at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
  }

  /** Creates a directory unless there is an entry with this name. */
  async makeDirectory(name: Name): Promise<void> {
    try {
      await mkdir(this.#at(name), 0o700);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }

  /** Moves an entry, of a link the link itself, and replaces a file at the target. */
  async rename(name: Name, target: Directory, targetName: Name): Promise<void> {
    await rename(this.#at(name), target.#at(targetName));
  }

  /** Removes an entry that is no directory; of a link the link itself. */
  async unlink(name: Name): Promise<void> {
    await unlink(this.#at(name));
  }

  /** Removes an empty directory. */
  async removeDirectory(name: Name): Promise<void> {
    await rmdir(this.#at(name));
  }

  /** On Linux, the file that is checked is the one that is read: its content is opened through the descriptor that was checked. */
  async #openFile(name: Name, path: string): Promise<FileHandle> {
    const entry = this.#at(name);
    if (!isLinux) {
      requireFile(await lstat(entry), path);
      return await open(entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    }
    const found = await open(entry, O_PATH | O_NOFOLLOW);
    try {
      requireFile(await found.stat(), path);
      return await open(`/proc/self/fd/${found.fd}`, O_RDONLY | O_NONBLOCK);
    } finally {
      await found.close();
    }
  }

  /** Returns the path of an entry. The check is the last one: no caller may pass more than one name. */
  #at(name: Name): Buffer {
    const bytes = Buffer.from(name as string);
    if (bytes.length === 0 || bytes.includes("/") || bytes.includes(0) || bytes.equals(DOT) || bytes.equals(PARENT)) {
      throw new Error(`not a name: ${JSON.stringify(String(name))}`);
    }
    return Buffer.concat([this.#path, SLASH, bytes]);
  }
}

const ABSENT: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);
const DOT = Buffer.from(".");
const PARENT = Buffer.from("..");
const SLASH = Buffer.from("/");

/** Throws Refused for an entry that is not a regular file with one name. */
export function requireFile(stats: Stats, path: string): Stats {
  if (stats.isDirectory()) throw new Refused(`${path} is a directory`);
  if (!stats.isFile()) throw new Refused(`${path} is neither a file nor a directory`);
  if (stats.nlink > 1) throw new Refused(`${path} has another name (a hard link), possibly outside of the root`);
  return stats;
}
