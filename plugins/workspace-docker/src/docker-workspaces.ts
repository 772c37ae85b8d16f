import { closeSync, openSync, writeFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { BaseWorkspaces, type Opened } from "@mrlm/sandbox";
import { MrlmError, type Workspace, type WorkspaceLimits } from "@mrlm/spec";
import type Docker from "dockerode";
import {
  attach,
  Container,
  type ContainerSettings,
  containerOptions,
  demux,
  OWN_BYTES,
  OWN_PROCESSES,
} from "./container.ts";
import { DockerWorkspace } from "./docker-workspace.ts";
import { connect, engineFailed, type Image, readImage, remove, within } from "./engine.ts";
import { PROBE } from "./scripts.ts";

/** Working directory for which containers are started before they are asked for: the default of workspaces. */
const WORKDIR = "/workspace";
/** Folders of every workspace. */
const FOLDERS = ["/tmp", "/root", "/var/tmp"];

/** Folders of an image that programs may write to. */
interface Writable {
  readonly folders: readonly string[];
  /** Tarball of the working directory, where the image has files in it. */
  readonly tarball: string | undefined;
}

export interface DockerWorkspacesOptions extends Readonly<ConstructorParameters<typeof BaseWorkspaces>[0]> {
  /** Path of the socket of the engine. */
  readonly socket: string | undefined;
  /** Image of a workspace that names none. */
  readonly image: string;
  /** Number of containers that are started before they are asked for. */
  readonly warm: number;
  /** Names of the root folder that programs may write to, where the image has nothing there. */
  readonly folders: readonly string[];
}

/** Provider of workspaces in containers of Docker or Podman. */
export class DockerWorkspaces extends BaseWorkspaces {
  readonly #engine: Docker;
  readonly #options: DockerWorkspacesOptions;
  readonly #writable = new Map<string, Promise<Writable>>();
  readonly #warm: Promise<Container>[] = [];

  private constructor(engine: Docker, options: DockerWorkspacesOptions) {
    super(options);
    this.#engine = engine;
    this.#options = options;
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

  protected async make(opened: Opened, onMade: (workspace: Workspace) => void): Promise<Workspace> {
    const { image, workdir, limits, socket } = opened;
    if (socket !== undefined) await assertShared(socket);
    const { settings, tarball } = await this.#settings(image, workdir, limits, socket);
    const workspace = new DockerWorkspace(this.#engine, await this.#container(settings), settings, opened);
    onMade(workspace);
    if (tarball !== undefined) await workspace.fill(workdir, tarball);
    return workspace;
  }

  protected async release(): Promise<void> {
    await Promise.allSettled(this.#warm.splice(0).map(async (container) => (await container).close()));
  }

  async #settings(
    name = this.#options.image,
    workdir: string,
    { memoryBytes, processes, diskBytes }: WorkspaceLimits,
    socket?: string,
  ): Promise<{ readonly settings: ContainerSettings; readonly tarball: string | undefined }> {
    const image = await readImage(this.#engine, name);
    const key = `${image.id} ${workdir}`;
    const writable = this.#writable.get(key) ?? this.#probe(name, image, workdir);
    this.#writable.set(key, writable);
    writable.catch(() => this.#writable.delete(key));
    const { folders, tarball } = await writable;
    return { settings: { image: image.id, folders, limits: { memoryBytes, processes, diskBytes }, socket }, tarball };
  }

  /**
   * Returns the folders without files, of those of the option and of the first of the path of the working directory; or the working directory itself. Volumes of
   * the image are such folders, because an engine does not limit their size.
   */
  async #probe(name: string, { id: image, volumes }: Image, workdir: string): Promise<Writable> {
    const parts = workdir.split("/").filter(Boolean);
    const above = parts.map((_, at) => `/${parts.slice(0, at + 1).join("/")}`);
    const own = this.#options.folders.map((folder) => `/${folder}`);
    const chunks: Buffer[] = [];
    await this.#read(image, PROBE, [...new Set([...above, ...own])], (chunk) => chunks.push(chunk));
    const lines = Buffer.concat(chunks).toString().split("\n");
    const named = (word: string): string[] =>
      lines.flatMap((line) => (line.startsWith(word) ? [line.slice(word.length)] : []));
    const lacks = named("lacks ");
    if (lacks.length > 0 || !lines.includes("probed"))
      throw new MrlmError("OPTIONS_INVALID", `The image ${name} has no ${lacks.join(", no ") || "/bin/sh"}.`, {
        hint: "Workspaces need sh, coreutils or busybox, find, xargs and tar in their image: build one that has them.",
      });
    const free = new Set(named("free "));
    const start = above.find((path) => free.has(path)) ?? above.at(-1);
    const found = [...new Set([...FOLDERS, ...volumes, ...own.filter((path) => free.has(path)), start ?? "/tmp"])];
    // A folder in one that is writable is made there.
    const folders = found.filter((path) => !found.some((other) => path.startsWith(`${other}/`))).toSorted();
    const nested = volumes.filter((path) => !folders.includes(path) || /^\/run(\/|$)/.test(path));
    if (nested.length > 0)
      throw new MrlmError(
        "OPTIONS_INVALID",
        `The image ${name} has its volume ${nested[0]} in /run or a folder of workspaces.`,
        {
          hint: "Build the image without this VOLUME: programs of a workspace may write there in any case.",
        },
      );
    const hasFiles = start === workdir && !free.has(workdir) && folders.includes(workdir);
    return { folders, tarball: hasFiles ? await this.#pack(image, workdir) : undefined };
  }

  /** Copies the working directory of an image, which is read-only there. */
  async #pack(image: string, workdir: string): Promise<string> {
    const path = join(this.folder, `workdir-${crypto.randomUUID()}.tar`);
    const file = openSync(path, "wx", 0o600);
    try {
      await this.#read(image, 'cd / && exec tar -cf - "$1"', [workdir.slice(1)], (chunk) => writeFileSync(file, chunk));
      return path;
    } finally {
      closeSync(file);
    }
  }

  /** Runs a script in a container of its own, and passes on its output. */
  async #read(
    image: string,
    script: string,
    args: readonly string[],
    onStdout: (chunk: Buffer) => unknown,
  ): Promise<void> {
    let container: Docker.Container | undefined;
    try {
      const options = containerOptions(image, script, args);
      const HostConfig = { ...options.HostConfig, Memory: OWN_BYTES, MemorySwap: OWN_BYTES, PidsLimit: OWN_PROCESSES };
      container = await within(this.#engine.createContainer({ ...options, HostConfig }));
      const stream = await attach(container);
      const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
      const pass = (chunk: Buffer): void => {
        try {
          onStdout(chunk);
        } catch (error) {
          reject(error);
        }
      };
      demux(this.#engine, stream, pass, () => undefined);
      stream.on("close", resolve).on("error", () => resolve());
      await Promise.all([within(container.start()), within(closed)]);
    } catch (error) {
      // The engine cannot start a program that the image does not have.
      if (!/no such file|not found/i.test((error as Error).message))
        throw engineFailed("A container could not be started", error);
    } finally {
      if (container !== undefined) await remove(container);
    }
  }

  async #container(settings: ContainerSettings): Promise<Container> {
    if (this.#options.warm === 0) return Container.start(this.#engine, settings);
    const { settings: usual } = await this.#settings(undefined, WORKDIR, this.limits);
    if (JSON.stringify(settings) !== JSON.stringify(usual)) return Container.start(this.#engine, settings);
    const taken = this.#warm.shift();
    void this.#refill().catch(() => undefined);
    // One that has ended meanwhile is not given out.
    const container = await taken?.catch(() => undefined);
    return container === undefined || container.failure !== undefined
      ? Container.start(this.#engine, settings)
      : container;
  }

  async #refill(): Promise<void> {
    const { settings } = await this.#settings(undefined, WORKDIR, this.limits);
    const missing = Math.max(0, this.#options.warm - this.#warm.length);
    if (this.isClosed) return;
    const started = Array.from({ length: missing }, () => Container.start(this.#engine, settings));
    this.#warm.push(...started);
    await Promise.all(started);
  }
}

async function assertShared(socket: string): Promise<void> {
  if (((await stat(socket)).mode & 0o006) === 0o006) return;
  throw new MrlmError("OPTIONS_INVALID", `${socket} is closed to programs of a container, which are another user.`, {
    hint: "Let others read and write it (chmod o+rw), in a folder that only this user can enter.",
  });
}
