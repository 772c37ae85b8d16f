import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync } from "node:fs";
import { lstat, open, readdir, rename, rm } from "node:fs/promises";
import { MrlmError, type Workspace } from "@mrlm/spec";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY, S_IXUSR } = constants;
/** O_PATH of Linux, which Node does not name: a descriptor that only names a file. */
export const O_PATH = 0o10000000;
/** Links of a path, as in the kernel. */
const MAX_LINKS = 40;
type Entries = NonNullable<Awaited<ReturnType<Workspace["list"]>>>;

interface ResolveOptions {
  /** The last name may be a link. */
  readonly followsLast?: boolean;
  readonly makesFolders?: boolean;
  /** The last name is a folder, which is opened too. */
  readonly isFolder?: boolean;
}

/** Folder that is open, and the name of a file in it. */
interface Place {
  readonly folder: number;
  readonly name: string;
}

/**
 * Files of a tree whose owner may change it at any time. A path is resolved name by name through the descriptors of folders, as `openat2` does with
 * RESOLVE_IN_ROOT: a folder that is exchanged for a link meanwhile has no effect, and `..` and links never leave the tree.
 */
export class TreeFiles {
  readonly #root: number;
  readonly #start: string;
  readonly #reserved: ReadonlySet<string>;

  /**
   * @param root descriptor of the root folder, which the owner closes
   * @param start folder at which relative paths start
   * @param reserved names in the root folder under which nothing is written, because programs see others there
   */
  constructor(root: number, start: string, reserved: ReadonlySet<string>) {
    this.#root = root;
    this.#start = start;
    this.#reserved = reserved;
  }

  /** Makes a folder with those above it. Returns false where a part of the path is no folder, and for one that its owner may not enter. */
  async makeFolder(path: string): Promise<boolean> {
    const isOpen = async ({ folder }: Place): Promise<boolean> => (fstatSync(folder).mode & S_IXUSR) !== 0;
    return (await this.#at(path, { isFolder: true, makesFolders: true }, isOpen)) ?? false;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.#at(path, { followsLast: true }, async ({ folder, name }) => {
      const file = await open(within(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      try {
        return (await file.stat()).isFile() ? new Uint8Array(await file.readFile()) : undefined;
      } finally {
        await file.close();
      }
    });
  }

  /** Writes a file beside its place, then renames it: what has the name is replaced, and not written through. */
  async write(path: string, content: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(content as Uint8Array);
    const mode = bytes.subarray(0, 2).toString("latin1") === "#!" ? 0o755 : 0o644;
    const fault = await this.#at(path, { makesFolders: true }, async ({ folder, name }) => {
      const written = within(folder, `.mrlm-${randomUUID()}`);
      try {
        const file = await open(written, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        try {
          await file.chmod(mode);
          await file.writeFile(bytes);
        } finally {
          await file.close();
        }
        await rename(written, within(folder, name));
        return "";
      } catch (error) {
        await rm(written, { force: true });
        return (error as NodeJS.ErrnoException).code ?? String(error);
      }
    });
    if (fault !== "")
      throw new MrlmError("DATA_INVALID", `${path} cannot be written in a workspace: ${fault ?? "no such folder"}.`, {
        hint: "Name a path that is no folder, below folders, and keep to the disk limit of the workspace.",
      });
  }

  async list(path: string): Promise<Entries | undefined> {
    return this.#at(path, { isFolder: true }, async ({ folder }) => {
      const names = (await readdir(within(folder, "."))).toSorted();
      const entries = names.map(async (name): Promise<Entries> => {
        const stat = await lstat(within(folder, name)).catch(() => undefined);
        if (stat === undefined) return [];
        const type = stat.isFile()
          ? "file"
          : stat.isDirectory()
            ? "directory"
            : stat.isSymbolicLink()
              ? "link"
              : "other";
        return [{ name, type, bytes: stat.isFile() ? stat.size : 0 }];
      });
      return (await Promise.all(entries)).flat();
    });
  }

  /** Works at the place of a path; `undefined` where there is none. */
  async #at<T>(path: string, options: ResolveOptions, work: (place: Place) => Promise<T>): Promise<T | undefined> {
    const folders = [this.#root];
    try {
      const name = this.#resolve(path, folders, options);
      return await work({ folder: folders.at(-1) as number, name });
    } catch (error) {
      if (MrlmError.isInstance(error) || (error as NodeJS.ErrnoException).code === undefined) throw error;
      return undefined;
    } finally {
      for (const folder of folders.slice(1)) closeSync(folder);
    }
  }

  /** Opens the folders of a path below the root. Returns the last name. Throws an error of the system where there is no such folder. */
  #resolve(
    path: string,
    folders: number[],
    { followsLast = false, makesFolders = false, isFolder = false }: ResolveOptions,
  ): string {
    const names = namesOf(path.startsWith("/") ? path : `${this.#start}/${path}`);
    if (isFolder) names.push(".");
    let links = 0;
    for (;;) {
      const name = names.shift() ?? ".";
      const isLast = names.length === 0;
      const folder = folders.at(-1) as number;
      if (name === "..") {
        if (folders.length > 1) closeSync(folders.pop() as number);
      } else if (makesFolders && folders.length === 1 && this.#reserved.has(name)) {
        throw new MrlmError(
          "DATA_INVALID",
          `/${name} is a folder of the host or of the jail, in which a workspace writes nothing.`,
          {
            hint: "Name a path below another folder, or open the workspace with an image.",
          },
        );
      } else if (isLast && (!followsLast || !isLink(folder, name))) {
        return name;
      } else if (!isLast && this.#enter(folders, name, makesFolders)) {
        continue;
      } else {
        if (++links > MAX_LINKS) throw Object.assign(new Error(`${path} has too many links`), { code: "ELOOP" });
        const target = readlinkSync(within(folder, name));
        if (target.startsWith("/")) for (const each of folders.splice(1)) closeSync(each);
        names.unshift(...namesOf(target));
      }
      if (names.length === 0) return ".";
    }
  }

  /** Opens a folder. Returns false if it is a link. */
  #enter(folders: number[], name: string, makes: boolean): boolean {
    const folder = folders.at(-1) as number;
    if (isLink(folder, name)) return false;
    if (makes && lstatSync(within(folder, name), { throwIfNoEntry: false }) === undefined)
      mkdirSync(within(folder, name));
    const opened = openSync(within(folder, name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    folders.push(opened);
    return fstatSync(opened).isDirectory();
  }
}

function within(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`;
}

function namesOf(path: string): string[] {
  if (path.includes("\0")) throw Object.assign(new Error("a path has no NUL"), { code: "EINVAL" });
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function isLink(folder: number, name: string): boolean {
  return lstatSync(within(folder, name), { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
