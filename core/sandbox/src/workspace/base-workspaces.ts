import { mkdirSync, rmSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "@mrlm/process";
import { MrlmError, type Workspace, type WorkspaceLimits, type WorkspaceOptions, type Workspaces } from "@mrlm/spec";
import { Places } from "../session/places.ts";
import type { Opened } from "./base-workspace.ts";
import { DEFAULT_LIMITS, ENVIRONMENT } from "./conventions.ts";
import { Snapshots } from "./snapshots.ts";

export interface BaseWorkspacesOptions {
  readonly limits?: Partial<WorkspaceLimits>;
  /** Largest number of open workspaces; default 256. */
  readonly count?: number;
  /** Number of callers that may wait for one; default 1024. */
  readonly queue?: number;
  /** Longest wait in milliseconds; default 600,000. */
  readonly waitMs?: number;
  /** Folder of snapshots that are kept; default: one that ends with this provider. */
  readonly kept?: string;
}

/** Places and snapshots of a provider of workspaces, and what is the same at each open. */
export abstract class BaseWorkspaces implements Workspaces {
  readonly limits: WorkspaceLimits;
  readonly sockets: string;
  /** Temporary folder of the provider. */
  protected readonly folder: string;
  protected isClosed = false;
  readonly #places: Places;
  readonly #snapshots: Snapshots;
  readonly #remove: () => void;
  readonly #open = new Set<Workspace>();

  constructor({ limits, count = 256, queue = 1024, waitMs = 600_000, kept }: BaseWorkspacesOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.#places = new Places({
      ...{ what: "workspaces", count, queue, waitMs },
      hint: "Raise `workspaces`, `queue` or `wait_ms` of the plugin of the workspaces, or run fewer episodes at the same time.",
    });
    const { path, remove } = temporaryFolder("workspaces");
    this.folder = path;
    this.#remove = remove;
    // The path of a socket has at most 107 bytes.
    this.sockets = join(path, "s");
    for (const name of ["s", "snapshots"]) mkdirSync(join(path, name));
    this.#snapshots = new Snapshots(join(path, "snapshots"), kept ?? join(path, "kept"));
  }

  /** Makes a workspace without files. It calls `onMade` with one as soon as that has to be closed, also if it rejects later. */
  protected abstract make(opened: Opened, onMade: (workspace: Workspace) => void): Promise<Workspace>;
  /** Ends what is there beside open workspaces. */
  protected abstract release(): Promise<void>;

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
    const found = socket === undefined ? undefined : await stat(socket).catch(() => undefined);
    if (socket !== undefined && found?.isSocket() !== true)
      throw new MrlmError("OPTIONS_INVALID", `${socket} is no Unix socket of this machine.`);
    const giveBack = await queued(() => this.#places.take(signal));
    let made: Workspace | undefined;
    try {
      const onClose = (): void => {
        if (made !== undefined) this.#open.delete(made);
        // The process that listens may be gone.
        if (socket !== undefined && dirname(socket) === this.sockets) rmSync(socket, { force: true });
        giveBack();
      };
      const own = { ...this.limits, ...limits };
      const opened = {
        image,
        env: { ...ENVIRONMENT, ...env },
        workdir,
        limits: own,
        socket,
        snapshots: this.#snapshots,
        onClose,
      };
      const workspace = await this.make(opened, (each) => {
        made = each;
        this.#open.add(each);
      });
      for (const [path, content] of Object.entries(files)) await workspace.writeFile(path, content);
      if (signal?.aborted === true || this.isClosed)
        throw new MrlmError("CANCELLED", "The workspace was cancelled before it was opened.");
      return workspace;
    } catch (error) {
      // The first error is the reason.
      await made?.close().catch(() => undefined);
      giveBack();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.#places.close();
    await Promise.allSettled([this.release(), ...[...this.#open].map((workspace) => workspace.close())]);
    this.#remove();
  }
}
