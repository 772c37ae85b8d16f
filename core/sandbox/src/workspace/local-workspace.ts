import { closeSync, openSync, readdirSync, readlinkSync, statfsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ExecOptions, MrlmError, type Workspace } from "@mrlm/spec";
import { jailLaunch, PROC, ROOT } from "../jail/bubblewrap.ts";
import type { Jail, Launch } from "../jail/launch.ts";
import { seccompFilter } from "../jail/seccomp.ts";
import { BaseWorkspace, type Opened, type StartedCommand } from "./base-workspace.ts";
import { assertRunning } from "./command-errors.ts";
import type { Holder } from "./holder.ts";
import { HOST_NAMES } from "./host-folders.ts";
import { JailedProcess } from "./jailed-process.ts";
import type { Pipe, Pipes } from "./pipes.ts";
import type { ShellStreams } from "./shell.ts";
import { TreeFiles } from "./tree-files.ts";

const FILTER = seccompFilter({ forks: true, namespaces: false, sharedMemory: false, sockets: true });
/** Folders that every workspace has. */
const FOLDERS = ["workspace", "tmp", "root", "var"];
/** Folders of an image that the jail makes itself. */
const OWN: ReadonlySet<string> = new Set(["dev", "mrlm", "proc", "sys"]);
const OWN_AND_HOST: ReadonlySet<string> = OWN.union(HOST_NAMES);
/** Names of the root folder that no other folder of the host can have. */
export const TAKEN_NAMES: ReadonlySet<string> = OWN_AND_HOST.union(new Set(FOLDERS));

/** Parts that workspaces of a provider share. */
export interface Shared {
  readonly bubblewrap: NonNullable<Jail["bubblewrap"]>;
  readonly pipes: Pipes;
  /** Folder of inputs. */
  readonly folder: string;
  /** Arguments of bubblewrap for the base of a workspace without an image. */
  readonly hostFolders: readonly string[];
  /** Folders of the host in all workspaces, read-only, by their names in the root folder. */
  readonly folders: Readonly<Record<string, string>>;
  /** Returns what snapshots of an image lie over. */
  baseOf(image: string | undefined, isOverlay: boolean): Promise<string>;
  /** Returns a holder with an image, and the files of a snapshot. */
  hold(image: string | undefined, diskBytes: number, snapshot?: string): Promise<Holder>;
}

/** Workspace in namespaces of this machine. Each command and each shell is a jail of its own over the same files. */
export class LocalWorkspace extends BaseWorkspace<JailedProcess> {
  readonly #shared: Shared;
  readonly #running = new Set<JailedProcess>();
  #holder: Holder;

  constructor(holder: Holder, shared: Shared, opened: Opened) {
    super(opened);
    this.#holder = holder;
    this.#shared = shared;
  }

  /** Makes the folders that every workspace has. */
  async prepare(): Promise<void> {
    const tree = `/proc/self/fd/${this.#holder.tree}`;
    for (const name of FOLDERS) await mkdir(join(tree, name)).catch(() => undefined);
    await this.#files().makeFolder(this.opened.workdir);
  }

  protected async startCommand(
    command: string,
    { stdin, signal }: Pick<ExecOptions, "stdin" | "signal">,
    onOutput: (chunk: Buffer, stream: "stdout" | "stderr") => void,
  ): Promise<StartedCommand<JailedProcess>> {
    const [out, err] = await this.#pipes("out", "out");
    const input = stdin === undefined ? undefined : await this.#inputFile(stdin);
    const stdio = [input ?? "ignore", out.far, err.far, "ignore", "ignore"] as const;
    const starting = this.#start(["/bin/sh", "-c", command], stdio, [out, err], signal);
    const process = await starting.finally(() => input !== undefined && closeSync(input));
    out.stream.on("data", (chunk: Buffer) => onOutput(chunk, "stdout"));
    err.stream.on("data", (chunk: Buffer) => onOutput(chunk, "stderr"));
    const closed = Promise.all([out, err].map(({ stream }) => new Promise((resolve) => stream.on("close", resolve))));
    return { process, closed };
  }

  protected async startShell(
    command: string,
  ): Promise<{ readonly process: JailedProcess; readonly streams: ShellStreams }> {
    const [lines, input, output] = await this.#pipes("in", "in", "out");
    const stdio = [lines.far, output.far, output.far, input.far, "ignore"] as const;
    const process = await this.#start(["/bin/sh", "-c", command], stdio, [lines, input, output]);
    return { process, streams: { lines: lines.stream, input: input.stream, output: output.stream } };
  }

  protected async faultOf(
    process: JailedProcess,
    code: number | null,
    printed: string,
  ): Promise<MrlmError | undefined> {
    if ((await process.hasStarted()) && (code !== null || process.limit !== undefined)) return undefined;
    const how = code === null ? "was killed from outside" : `could not be started (exit code ${code})`;
    return new MrlmError("SANDBOX_FAILED", `A command of a workspace ${how}.${printed === "" ? "" : ` ${printed}`}`);
  }

  async readFile(path: string): Promise<Uint8Array | undefined> {
    return this.#files().read(path);
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    return this.#files().write(path, content);
  }

  async list(path: string): ReturnType<Workspace["list"]> {
    return this.#files().list(path);
  }

  protected snapshotBase(): Promise<string> {
    return this.#shared.baseOf(this.opened.image, this.#holder.hasOverlay);
  }

  protected async pack(file: number): Promise<void> {
    const from = this.#holder.path(this.#holder.hasOverlay ? "upper" : "tree");
    await this.#holder.tar(["--create", "--sparse", ...TAR, "--directory", from, "."], { output: file });
  }

  protected async unpack(path: string): Promise<void> {
    const { image, limits } = this.opened;
    const next = await this.#shared.hold(image, limits.diskBytes, path);
    const before = this.#holder;
    this.#holder = next;
    await this.endAll();
    await before.close();
    if (this.isClosed) await next.close();
  }

  protected async release(): Promise<void> {
    await this.endAll();
    await this.#holder.close();
  }

  protected async endAll(): Promise<void> {
    const running = [...this.#running];
    for (const each of running) each.kill();
    await Promise.all(running.map(({ ended }) => ended));
  }

  async #pipes<D extends readonly ("in" | "out")[]>(...directions: D): Promise<{ [_ in keyof D]: Pipe }> {
    const opened: Pipe[] = [];
    try {
      for (const direction of directions) {
        this.assertOpen();
        opened.push(await this.#shared.pipes.open(direction));
      }
      this.assertOpen();
      return opened as { [_ in keyof D]: Pipe };
    } catch (error) {
      for (const pipe of opened) {
        pipe.release();
        pipe.stream.destroy();
      }
      this.assertOpen();
      throw new MrlmError("SANDBOX_FAILED", `A pipe for a workspace could not be made: ${(error as Error).message}`);
    }
  }

  async #start(
    command: readonly string[],
    stdio: readonly (number | "ignore")[],
    pipes: readonly Pipe[],
    signal?: AbortSignal,
  ): Promise<JailedProcess> {
    try {
      const { workdir } = this.opened;
      // A program may have removed it, or put a link in its place.
      const isThere = await this.#files()
        .makeFolder(workdir)
        .catch(() => false);
      const start = isThere ? workdir : "/";
      const launch = this.#launch(command, start);
      this.assertOpen();
      assertRunning(signal);
      const process = new JailedProcess(launch, stdio, this.opened.limits);
      this.#running.add(process);
      void process.ended.then(() => this.#running.delete(process));
      return process;
    } catch (error) {
      for (const { stream } of pipes) stream.destroy();
      throw error;
    } finally {
      for (const pipe of pipes) pipe.release();
    }
  }

  /** Returns the descriptor of a file without a name: a program may open it again, where a pipe that has ended would make it wait. */
  async #inputFile(content: string | Uint8Array): Promise<number> {
    const path = join(this.#shared.folder, `input-${crypto.randomUUID()}`);
    await writeFile(path, content, { mode: 0o600, flag: "wx" });
    const file = openSync(path, "r");
    await rm(path);
    return file;
  }

  /** The root folder is made anew for each jail and is read-only: a program cannot replace what others are mounted on. */
  #launch(command: readonly string[], start: string): Launch {
    this.assertOpen();
    const { bubblewrap, hostFolders, folders: shown } = this.#shared;
    const { image, env, limits, socket } = this.opened;
    const holder = this.#holder;
    const tree = `/proc/self/fd/${holder.tree}`;
    const entries = readdirSync(tree, { withFileTypes: true }).filter(({ name }) => !this.#reserved.has(name));
    const folders = entries.flatMap((entry) =>
      entry.isSymbolicLink()
        ? ["--symlink", readlinkSync(join(tree, entry.name)), `/${entry.name}`]
        : ["--bind", join(holder.path("tree"), entry.name), `/${entry.name}`],
    );
    const { seccomp, proc } = bubblewrap;
    const launch = jailLaunch(bubblewrap.path, {
      files: [
        ...(image === undefined ? hostFolders : []),
        ...folders,
        ...Object.entries(shown).flatMap(([name, path]) => ["--ro-bind", path, `/${name}`]),
        ...(proc ? PROC : []),
        ...["--dev", "/dev", "--bind", holder.path("shm"), "/dev/shm", "--remount-ro", "/dev"],
        // None after the end of its listener.
        ...(socket === undefined ? [] : ["--bind-try", socket, "/mrlm/socket"]),
        ...["--remount-ro", "/", "--chdir", start],
      ],
      env,
      command,
      user: ROOT,
      capabilities: ["--cap-drop", "ALL"],
      filter: seccomp ? FILTER : undefined,
      isFirst: false,
      sharesNetwork: true,
      waits: true,
    });
    return holder.enter(launch, limits.fileBytes);
  }

  /** Whether the file system has no space for another page, or no place for another file. */
  protected isFull(): boolean {
    if (this.isClosed) return false;
    const { bavail, ffree } = statfsSync(`/proc/self/fd/${this.#holder.tree}`);
    return bavail < 1 || ffree < 1;
  }

  #files(): TreeFiles {
    this.assertOpen();
    return new TreeFiles(this.#holder.tree, this.opened.workdir, this.#reserved);
  }

  /** Names of the root folder that are those of the jail or of the host. */
  get #reserved(): ReadonlySet<string> {
    const own = this.opened.image === undefined ? OWN_AND_HOST : OWN;
    return own.union(new Set(Object.keys(this.#shared.folders)));
  }
}

/** Arguments of tar that keep the marks of an overlay, and owners as numbers. */
export const TAR = ["--xattrs", "--xattrs-include=user.*", "--numeric-owner", "--file", "-"];
