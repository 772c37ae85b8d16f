import { mkdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@mrlm/process";
import { DEFAULT_LIMITS, ENVIRONMENT, Places, Snapshots } from "@mrlm/sandbox";
import { MrlmError, type Workspace, type WorkspaceLimits, type WorkspaceOptions, type Workspaces } from "@mrlm/spec";
import type Docker from "dockerode";
import { attach, Container, type ContainerSettings, containerOptions, demux } from "./container.ts";
import { DockerWorkspace } from "./docker-workspace.ts";
import { connect, engineFailed, imageId, remove } from "./engine.ts";
import { PROBE } from "./scripts.ts";

const WORKDIR = "/workspace";
/** Folders of every workspace. */
const FOLDERS = ["/tmp", "/root"];

export interface DockerWorkspacesOptions {
  /** Path of the socket of the engine. */
  readonly socket: string | undefined;
  /** Image of a workspace that names none. */
  readonly image: string;
  readonly limits: Partial<WorkspaceLimits>;
  /** Largest number of open workspaces. */
  readonly count: number;
  /** Number of callers that may wait for one, and their longest wait in milliseconds. */
  readonly queue: number;
  readonly waitMs: number;
  /** Number of containers that are started before they are asked for. */
  readonly warm: number;
  /** Names of the root folder that programs may write to, where the image has nothing there. */
  readonly folders: readonly string[];
  /** Folder of snapshots that are kept. */
  readonly kept: string;
}

/** Provider of workspaces in containers of Docker or Podman. */
export class DockerWorkspaces implements Workspaces {
  readonly limits: WorkspaceLimits;
  readonly #engine: Docker;
  readonly #options: DockerWorkspacesOptions;
  readonly #places: Places;
  readonly #snapshots: Snapshots;
  readonly #remove: () => void;
  readonly #open = new Set<Workspace>();
  readonly #free = new Map<string, Promise<readonly string[]>>();
  readonly #warm: Promise<Container>[] = [];
  #isClosed = false;

  private constructor(engine: Docker, options: DockerWorkspacesOptions) {
    const { limits, count, queue, waitMs, kept } = options;
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.#engine = engine;
    this.#options = options;
    this.#places = new Places({
      ...{ what: "workspaces", count, queue, waitMs },
      hint: "Raise `workspaces`, `queue` or `wait_ms` of the plugin of the workspaces, or run fewer episodes at the same time.",
    });
    const { path, remove: removeFolder } = temporaryFolder("workspaces");
    this.#remove = removeFolder;
    mkdirSync(join(path, "snapshots"));
    this.#snapshots = new Snapshots(join(path, "snapshots"), kept);
  }

  /** Rejects with SANDBOX_FAILED where no engine can be reached, or it does not limit what containers use. */
  static async make(options: DockerWorkspacesOptions): Promise<DockerWorkspaces> {
    const workspaces = new DockerWorkspaces(await connect(options.socket), options);
    try {
      if (options.warm > 0) await workspaces.#refill();
      return workspaces;
    } catch (error) {
      await workspaces.close();
      throw error;
    }
  }

  async open(options: WorkspaceOptions = {}): Promise<Workspace> {
    const { image, files = {}, env = {}, workdir = WORKDIR, limits, socket, signal, queued = (wait) => wait() } = options;
    if (!workdir.startsWith("/"))
      throw new MrlmError("OPTIONS_INVALID", `The working directory ${workdir} is no absolute path.`);
    if (socket !== undefined) await assertSocket(socket);
    const giveBack = await queued(() => this.#places.take(signal));
    const own = { ...this.limits, ...limits };
    let workspace: DockerWorkspace | undefined;
    try {
      const settings = await this.#settings(image, workdir, own, socket);
      const container = await this.#container(settings);
      const onClose = (): void => {
        if (workspace !== undefined) this.#open.delete(workspace);
        giveBack();
      };
      workspace = new DockerWorkspace(container, {
        ...{ engine: this.#engine, snapshots: this.#snapshots, folders: settings.folders },
        base: JSON.stringify([settings.image, settings.folders]),
        ...{ env: { ...ENVIRONMENT, ...env }, workdir, limits: own, onClose },
      });
      this.#open.add(workspace);
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
    const warm = this.#warm.splice(0).map(async (container) => (await container).close());
    await Promise.allSettled([...warm, ...[...this.#open].map((workspace) => workspace.close())]);
    this.#remove();
  }

  async #settings(
    name = this.#options.image,
    workdir: string,
    { memoryBytes, processes, diskBytes }: WorkspaceLimits,
    socket?: string,
  ): Promise<ContainerSettings> {
    const image = await imageId(this.#engine, name);
    const key = `${image} ${workdir}`;
    const free = this.#free.get(key) ?? this.#probe(name, image, workdir);
    this.#free.set(key, free);
    free.catch(() => this.#free.delete(key));
    return { image, folders: await free, limits: { memoryBytes, processes, diskBytes }, socket };
  }

  /** Returns the folders of an image that become writable: those without files, and of the path of the working directory the first. */
  async #probe(name: string, image: string, workdir: string): Promise<readonly string[]> {
    const above = workdir.split("/").flatMap((part, at, parts) => (part === "" ? [] : [parts.slice(0, at + 1).join("/")]));
    const own = this.#options.folders.map((folder) => `/${folder}`);
    const lines = (await this.#printed(image, [...new Set([...above, ...own])])).split("\n");
    const lacks = lines.flatMap((line) => (line.startsWith("lacks ") ? [line.slice(6)] : []));
    if (lacks.length > 0)
      throw new MrlmError("OPTIONS_INVALID", `The image ${name} has no ${lacks.join(", no ")}.`, {
        hint: "Workspaces need sh, coreutils or busybox, find, xargs and tar in their image: build one that has them.",
      });
    const free = new Set(lines.flatMap((line) => (line.startsWith("free ") ? [line.slice(5)] : [])));
    const start = above.find((path) => free.has(path));
    const found = [...FOLDERS, ...own.filter((path) => free.has(path)), ...(start === undefined ? [] : [start])];
    return [...new Set(found)].toSorted();
  }

  async #printed(image: string, paths: readonly string[]): Promise<string> {
    const container = await this.#engine
      .createContainer(containerOptions(image, PROBE, paths))
      .catch((error: unknown) => Promise.reject(engineFailed("A container could not be made", error)));
    try {
      const stream = await attach(container);
      let printed = "";
      demux(this.#engine, stream, (chunk) => void (printed += chunk.toString()), () => undefined);
      const closed = new Promise((resolve) => void stream.on("close", resolve).on("error", resolve));
      await container.start();
      await closed;
      return printed;
    } catch (error) {
      if (/no such file|not found/i.test((error as Error).message))
        return "lacks /bin/sh";
      throw engineFailed("A container could not be started", error);
    } finally {
      await remove(container);
    }
  }

  async #container(settings: ContainerSettings): Promise<Container> {
    if (this.#options.warm === 0) return Container.start(this.#engine, settings);
    const usual = await this.#settings(undefined, WORKDIR, this.limits);
    if (JSON.stringify(settings) !== JSON.stringify(usual)) return Container.start(this.#engine, settings);
    const taken = this.#warm.shift();
    void this.#refill().catch(() => undefined);
    // One that has ended meanwhile is not given out.
    const container = await taken?.catch(() => undefined);
    return container === undefined || container.failure !== undefined ? Container.start(this.#engine, settings) : container;
  }

  async #refill(): Promise<void> {
    const settings = await this.#settings(undefined, WORKDIR, this.limits);
    const missing = Math.max(0, this.#options.warm - this.#warm.length);
    if (this.#isClosed) return;
    const started = Array.from({ length: missing }, () => Container.start(this.#engine, settings));
    this.#warm.push(...started);
    await Promise.all(started);
  }
}

async function assertSocket(socket: string): Promise<void> {
  const found = await stat(socket).catch(() => undefined);
  if (found?.isSocket() !== true)
    throw new MrlmError("OPTIONS_INVALID", `${socket} is no Unix socket of this machine.`);
  if ((found.mode & 0o006) !== 0o006)
    throw new MrlmError("OPTIONS_INVALID", `${socket} is closed to programs of a container, which are another user.`, {
      hint: "Let others read and write it (chmod o+rw), in a folder that only this user can enter.",
    });
}
