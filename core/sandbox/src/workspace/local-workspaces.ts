import { closeSync, mkdirSync, openSync } from "node:fs";
import { realpath, symlink } from "node:fs/promises";
import { join } from "node:path";
import { MrlmError, type Workspace } from "@mrlm/spec";
import { detectJail } from "../jail/detect-jail.ts";
import { WatchSlot } from "../watchdog/watchdog.ts";
import type { Opened } from "./base-workspace.ts";
import { BaseWorkspaces, type BaseWorkspacesOptions } from "./base-workspaces.ts";
import { folderBytes } from "./folder-bytes.ts";
import { Holder, type HolderTools, holderTools } from "./holder.ts";
import { hostFolders } from "./host-folders.ts";
import { LocalWorkspace, type Shared, TAR } from "./local-workspace.ts";
import { Pipes } from "./pipes.ts";

interface LocalWorkspacesOptions extends BaseWorkspacesOptions {
  /** Number of workspaces that are made before they are asked for; default 0. */
  readonly warm?: number;
  /** Folders of images by name. Each is found at its first use. */
  readonly images?: Readonly<Record<string, () => Promise<string>>>;
  /** Folders of the host that all workspaces show, read-only, by their names in the root folder. Default: none. */
  readonly folders?: Readonly<Record<string, string>>;
}

/** Provider of workspaces on this machine, in jails of bubblewrap. */
export class LocalWorkspaces extends BaseWorkspaces {
  readonly #tools: HolderTools;
  readonly #mountPoint: string;
  readonly #images: NonNullable<LocalWorkspacesOptions["images"]>;
  readonly #found = new Map<string, Promise<string>>();
  readonly #shared: Shared;
  readonly #warm: Promise<Holder>[] = [];
  readonly #warmCount: number;
  /** Keeps the thread of the watchdog, whose start is slower than a command. */
  readonly #slot = new WatchSlot(() => undefined);
  #canOverlay = true;

  private constructor(bubblewrap: Shared["bubblewrap"], options: LocalWorkspacesOptions) {
    const { warm = 0, images = {}, folders = {} } = options;
    super(options);
    this.#tools = holderTools(bubblewrap.path);
    this.#images = images;
    this.#warmCount = warm;
    this.#mountPoint = join(this.folder, "files");
    for (const name of ["files", "pipes"]) mkdirSync(join(this.folder, name));
    this.#shared = {
      bubblewrap,
      pipes: new Pipes(join(this.folder, "pipes")),
      folder: this.folder,
      hostFolders: hostFolders(this.folder),
      folders,
      hold: (image, diskBytes, snapshot) => this.#hold(image, diskBytes, snapshot),
      baseOf: async (image, isOverlay) =>
        JSON.stringify([image === undefined ? "" : await realpath(await this.#imageFolder(image)), isOverlay]),
    };
  }

  /** Rejects with SANDBOX_FAILED where bubblewrap does not work, or may not make what workspaces need. */
  static async make(options: LocalWorkspacesOptions = {}): Promise<LocalWorkspaces> {
    const { bubblewrap, missing } = await detectJail();
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

  protected async make(opened: Opened, onMade: (workspace: Workspace) => void): Promise<Workspace> {
    const workspace = new LocalWorkspace(await this.#hold(opened.image, opened.limits.diskBytes), this.#shared, opened);
    onMade(workspace);
    await workspace.prepare();
    return workspace;
  }

  protected async release(): Promise<void> {
    await Promise.allSettled(this.#warm.splice(0).map(async (holder) => (await holder).close()));
    this.#slot.release();
  }

  async #hold(image: string | undefined, diskBytes: number, snapshot?: string): Promise<Holder> {
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

  async #unpack(holder: Holder, path: string, to: "tree" | "upper"): Promise<void> {
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
    while (!this.isClosed && this.#warm.length < Math.max(atLeast, this.#warmCount)) {
      const holder = this.#make();
      // The next caller that takes it receives the error.
      holder.catch(() => undefined);
      this.#warm.push(holder);
    }
  }
}
