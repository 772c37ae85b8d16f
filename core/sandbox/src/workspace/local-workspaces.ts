import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { mkdir, readdir, realpath, rm, stat, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@mrlm/process";
import { MrlmError, type Workspace, type WorkspaceLimits, type WorkspaceOptions, type Workspaces } from "@mrlm/spec";
import { detectJail } from "../jail/detect-jail.ts";
import { Places } from "../session/places.ts";
import { WatchSlot } from "../watchdog/watchdog.ts";
import { folderBytes } from "./folder-bytes.ts";
import { Holder, type HolderTools, holderTools } from "./holder.ts";
import { hostFolders } from "./host-folders.ts";
import { LocalWorkspace, type Shared, type Snapshot, TAR } from "./local-workspace.ts";
import { Pipes } from "./pipes.ts";

const MEGABYTE = 2 ** 20;

/** Default limits of a workspace. */
const DEFAULT_LIMITS: WorkspaceLimits = {
  timeoutMs: 120_000,
  cpuMs: 120_000,
  memoryBytes: 2048 * MEGABYTE,
  processes: 256,
  fileBytes: 256 * MEGABYTE,
  diskBytes: 512 * MEGABYTE,
  outputBytes: 256 * 1024,
};

/** Time after its last use at which a kept snapshot is removed, in milliseconds: 30 days. */
const KEPT_MS = 30 * 86_400_000;

interface LocalWorkspacesOptions {
  readonly limits?: Partial<WorkspaceLimits>;
  /** Largest number of open workspaces; default 256. */
  readonly count?: number;
  /** Number of callers that may wait for one; default 1024. */
  readonly queue?: number;
  /** Longest wait in milliseconds; default 600,000. */
  readonly waitMs?: number;
  /** Number of workspaces that are made before they are asked for; default 0. */
  readonly warm?: number;
  /** Folders of images by name. Each is found at its first use. */
  readonly images?: Readonly<Record<string, () => Promise<string>>>;
  /** Folders of the host that all workspaces show, read-only, by their names in the root folder. Default: none. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Folder of snapshots that are kept; default: one that ends with this provider. */
  readonly kept?: string;
}

/** Provider of workspaces on this machine, in jails of bubblewrap. */
export class LocalWorkspaces implements Workspaces {
  readonly limits: WorkspaceLimits;
  readonly sockets: string;
  readonly #tools: HolderTools;
  readonly #mountPoint: string;
  readonly #images: NonNullable<LocalWorkspacesOptions["images"]>;
  readonly #found = new Map<string, Promise<string>>();
  readonly #places: Places;
  readonly #shared: Shared;
  readonly #warm: Promise<Holder>[] = [];
  readonly #warmCount: number;
  readonly #open = new Set<Workspace>();
  readonly #remove: () => void;
  /** Keeps the thread of the watchdog, whose start is slower than a command. */
  readonly #slot = new WatchSlot(() => undefined);
  #canOverlay = true;
  #isClosed = false;

  private constructor(bubblewrap: Shared["bubblewrap"], options: LocalWorkspacesOptions) {
    const { limits, count = 256, queue = 1024, waitMs = 600_000, warm = 0, images = {}, folders = {}, kept } = options;
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.#tools = holderTools(bubblewrap.path);
    this.#images = images;
    this.#warmCount = warm;
    this.#places = new Places({
      ...{ what: "workspaces", count, queue, waitMs },
      hint: "Raise `workspaces`, `queue` or `wait_ms` of the plugin of the workspaces, or run fewer episodes at the same time.",
    });
    const { path, remove } = temporaryFolder("workspaces");
    this.#remove = remove;
    this.#mountPoint = join(path, "files");
    // The path of a socket has at most 107 bytes.
    this.sockets = join(path, "s");
    for (const name of ["files", "pipes", "snapshots", "s"]) mkdirSync(join(path, name));
    this.#shared = {
      bubblewrap,
      pipes: new Pipes(join(path, "pipes")),
      folder: join(path, "snapshots"),
      hostFolders: hostFolders(path),
      folders,
      snapshots: new Map(),
      hold: (image, diskBytes, snapshot) => this.#hold(image, diskBytes, snapshot),
      keptFile: async (image, key, isOverlay) => {
        const folder = kept ?? join(path, "kept");
        await mkdir(folder, { recursive: true });
        const base = image === undefined ? "" : await realpath(await this.#imageFolder(image));
        return join(
          folder,
          createHash("sha256")
            .update(JSON.stringify([base, key, isOverlay]))
            .digest("hex"),
        );
      },
    };
  }

  /** Rejects with SANDBOX_FAILED where bubblewrap does not work, or may not make what workspaces need. */
  static async make(options: LocalWorkspacesOptions = {}): Promise<LocalWorkspaces> {
    const { bubblewrap, missing } = await detectJail();
    if (options.kept !== undefined) await removeUnused(options.kept);
    if (bubblewrap !== undefined) return new LocalWorkspaces(bubblewrap, options).#start();
    throw new MrlmError("SANDBOX_FAILED", `Workspaces need a jail, and there is none: ${missing[0]?.reason}.`, {
      hint: "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap), and permit user namespaces.",
    });
  }

  async #start(): Promise<this> {
    // The first one shows whether this machine can make any.
    this.#refill(1);
    try {
      await Promise.all(this.#warm);
      return this;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async open(options: WorkspaceOptions = {}): Promise<Workspace> {
    const {
      image,
      files = {},
      env = {},
      workdir = "/workspace",
      limits,
      socket,
      signal,
      queued = (wait) => wait(),
    } = options;
    if (!workdir.startsWith("/"))
      throw new MrlmError("OPTIONS_INVALID", `The working directory ${workdir} is no absolute path.`);
    const isSocket =
      socket === undefined ||
      (await stat(socket).then(
        (found) => found.isSocket(),
        () => false,
      ));
    if (!isSocket) throw new MrlmError("OPTIONS_INVALID", `${socket} is no Unix socket of this machine.`);
    const giveBack = await queued(() => this.#places.take(signal));
    const own = { ...this.limits, ...limits };
    let workspace: LocalWorkspace | undefined;
    try {
      const onClose = (): void => {
        if (workspace !== undefined) this.#open.delete(workspace);
        // The process that listens may be gone.
        if (socket !== undefined && dirname(socket) === this.sockets) rmSync(socket, { force: true });
        giveBack();
      };
      const holder = await this.#hold(image, own.diskBytes);
      workspace = new LocalWorkspace(holder, this.#shared, { image, env, workdir, limits: own, socket, onClose });
      this.#open.add(workspace);
      await workspace.prepare();
      for (const [path, content] of Object.entries(files)) await workspace.writeFile(path, content);
      if (signal?.aborted === true || this.#isClosed)
        throw new MrlmError("CANCELLED", "The workspace was cancelled before it was opened.");
      return workspace;
    } catch (error) {
      await workspace?.close();
      giveBack();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#places.close();
    const warm = this.#warm.splice(0).map(async (holder) => (await holder).close());
    await Promise.allSettled([...warm, ...[...this.#open].map((workspace) => workspace.close())]);
    this.#slot.release();
    this.#remove();
  }

  async #hold(image: string | undefined, diskBytes: number, snapshot?: Snapshot): Promise<Holder> {
    const folder = image === undefined ? undefined : await this.#imageFolder(image);
    const making = this.#warm.shift() ?? this.#make();
    this.#refill();
    const holder = await making;
    try {
      if (diskBytes !== this.limits.diskBytes) await holder.resize(diskBytes);
      const isLaid = folder !== undefined && this.#canOverlay;
      // Files below an overlay are there before it.
      if (snapshot !== undefined) await this.#unpack(holder, snapshot, isLaid ? "upper" : "tree");
      if (isLaid) this.#canOverlay = await holder.overlay(folder);
      if (folder !== undefined && !this.#canOverlay) {
        await holder.resize(diskBytes + (await folderBytes(folder)));
        if (snapshot === undefined) await holder.copy(folder);
      }
      return holder;
    } catch (error) {
      await holder.close();
      throw error;
    }
  }

  async #unpack(holder: Holder, { path }: Snapshot, to: "tree" | "upper"): Promise<void> {
    const input = openSync(path, "r");
    try {
      await holder.tar(["--extract", "--preserve-permissions", ...TAR, "--directory", holder.path(to)], { input });
    } finally {
      closeSync(input);
    }
  }

  async #imageFolder(name: string): Promise<string> {
    const find = this.#images[name];
    if (find === undefined) {
      const known = Object.keys(this.#images);
      throw new MrlmError("OPTIONS_INVALID", `There is no image ${name} for workspaces.`, {
        hint: `Name it in \`images\` of the plugin, with a root folder or a tarball. ${known.length > 0 ? `Known: ${known.join(", ")}.` : "There are none."}`,
      });
    }
    const found = this.#found.get(name) ?? this.#linkTo(find);
    this.#found.set(name, found);
    found.catch(() => this.#found.delete(name));
    return found;
  }

  /** Returns a link to a folder: options of a mount cannot name every path. */
  async #linkTo(find: () => Promise<string>): Promise<string> {
    const link = join(this.#shared.folder, `image-${crypto.randomUUID()}`);
    await symlink(await find(), link);
    return link;
  }

  #make(): Promise<Holder> {
    return Holder.start(this.#tools, this.#mountPoint, this.limits.diskBytes);
  }

  #refill(atLeast = 0): void {
    while (!this.#isClosed && this.#warm.length < Math.max(atLeast, this.#warmCount)) {
      const holder = this.#make();
      // The next caller that takes it receives the error.
      holder.catch(() => undefined);
      this.#warm.push(holder);
    }
  }
}

/** Removes kept snapshots that were not used for long. Another process may remove them at the same time. */
async function removeUnused(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  for (const path of names.map((name) => join(folder, name))) {
    const used = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (used !== undefined && Date.now() - used > KEPT_MS) await rm(path, { force: true });
  }
}
