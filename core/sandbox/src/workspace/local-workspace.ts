import { closeSync, existsSync, openSync, readdirSync, readlinkSync, statfsSync } from "node:fs";
import { copyFile, mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import {
  type ExecOptions,
  type ExecResult,
  MrlmError,
  type Workspace,
  type WorkspaceLimits,
  type WorkspaceShell,
} from "@mrlm/spec";
import { jailLaunch, PROC, ROOT } from "../jail/bubblewrap.ts";
import type { Jail, Launch } from "../jail/launch.ts";
import { seccompFilter } from "../jail/seccomp.ts";
import { BoundedOutput } from "./bounded-output.ts";
import { assertCommand, assertRunning } from "./command-errors.ts";
import type { Holder } from "./holder.ts";
import { HOST_NAMES } from "./host-folders.ts";
import { JailedProcess } from "./jailed-process.ts";
import type { Pipe, Pipes } from "./pipes.ts";
import { JailedShell } from "./shell.ts";
import { TreeFiles } from "./tree-files.ts";

type SnapshotOptions = NonNullable<Parameters<Workspace["snapshot"]>[0]>;

const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));
/** A shell reports a signal as this and the number of the signal. */
const SIGNAL_BASE = 128;
const FILTER = seccompFilter({ forks: true, namespaces: false, sharedMemory: false, sockets: true });
/** Folders that every workspace has. */
const FOLDERS = ["workspace", "tmp", "root", "var"];
/** Folders of an image that the jail makes itself. */
const OWN: ReadonlySet<string> = new Set(["dev", "mrlm", "proc", "sys"]);
const OWN_AND_HOST: ReadonlySet<string> = OWN.union(HOST_NAMES);
/** Names of the root folder that no other folder of the host can have. */
export const TAKEN_NAMES: ReadonlySet<string> = OWN_AND_HOST.union(new Set(FOLDERS));
const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  USER: "root",
  LANG: "C.UTF-8",
  TERM: "dumb",
  PAGER: "cat",
  PS1: "",
  HISTFILE: "",
};

/** Parts that workspaces of a provider share. */
export interface Shared {
  readonly bubblewrap: NonNullable<Jail["bubblewrap"]>;
  readonly pipes: Pipes;
  /** Folder of snapshots. */
  readonly folder: string;
  /** Arguments of bubblewrap for the base of a workspace without an image. */
  readonly hostFolders: readonly string[];
  /** Folders of the host in all workspaces, read-only, by their names in the root folder. */
  readonly folders: Readonly<Record<string, string>>;
  readonly snapshots: Map<string, Snapshot>;
  /** Returns the file of a snapshot that is kept. */
  keptFile(image: string | undefined, key: string, isOverlay: boolean): Promise<string>;
  /** Returns a holder with an image, and the files of a snapshot. */
  hold(image: string | undefined, diskBytes: number, snapshot?: Snapshot): Promise<Holder>;
}

/** Copy of the files of a workspace. */
export interface Snapshot {
  readonly path: string;
  readonly image: string | undefined;
}

/** Options with which a workspace was opened. */
export interface Opened {
  readonly image: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly limits: WorkspaceLimits;
  readonly socket: string | undefined;
  onClose(): void;
}

/** Workspace in namespaces of this machine. Each command and each shell is a jail of its own over the same files. */
export class LocalWorkspace implements Workspace {
  readonly #shared: Shared;
  readonly #opened: Opened;
  readonly #running = new Set<JailedProcess>();
  readonly #snapshots: string[] = [];
  #holder: Holder;
  #closing: Promise<void> | undefined;

  constructor(holder: Holder, shared: Shared, opened: Opened) {
    this.#holder = holder;
    this.#shared = shared;
    this.#opened = opened;
  }

  /** Makes the folders that every workspace has. */
  async prepare(): Promise<void> {
    const tree = `/proc/self/fd/${this.#holder.tree}`;
    for (const name of FOLDERS) await mkdir(join(tree, name)).catch(() => undefined);
    await this.#files().makeFolder(this.#opened.workdir);
  }

  async exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    const { stdin, timeoutMs, signal, onOutput } = options;
    assertCommand(command);
    const { limits } = this.#opened;
    const [out, err] = await this.#pipes("out", "out");
    const input = stdin === undefined ? undefined : await this.#inputFile(stdin);
    const stdio = [input ?? "ignore", out.far, err.far, "ignore", "ignore"] as const;
    const starting = this.#start(["/bin/sh", "-c", command], stdio, [out, err], signal);
    const process = await starting.finally(() => input !== undefined && closeSync(input));
    const cancel = (): void => process.kill();
    signal?.addEventListener("abort", cancel, { once: true });
    const [stdout, stderr] = [out, err].map(({ stream }, at) => {
      const kept = new BoundedOutput(limits.outputBytes);
      stream.on("data", (chunk: Buffer) => {
        kept.add(chunk);
        onOutput?.(new Uint8Array(chunk), at === 0 ? "stdout" : "stderr");
      });
      return kept;
    }) as [BoundedOutput, BoundedOutput];
    const closed = [out, err].map(({ stream }) => new Promise((resolve) => stream.on("close", resolve)));
    void process.watch(Math.min(timeoutMs ?? limits.timeoutMs, limits.timeoutMs));
    const [code] = await Promise.all([process.ended, ...closed]);
    signal?.removeEventListener("abort", cancel);
    assertRunning(signal, [stdout, stderr]);
    if (this.#closing !== undefined) throw gone();
    const { limit } = process;
    if (!(await process.hasStarted()) || (code === null && limit === undefined))
      throw this.#failed(code, Buffer.from(stderr.bytes()).toString());
    const met = this.#limitMet(code, limit);
    return {
      exitCode: limit === undefined ? code : null,
      signal: (limit === undefined && code !== null && SIGNALS.get(code - SIGNAL_BASE)) || null,
      stdout: stdout.bytes(),
      stderr: stderr.bytes(),
      timedOut: limit === "time",
      ...(met !== undefined && { limit: met }),
      truncated: stdout.isTruncated || stderr.isTruncated,
    };
  }

  async shell(): Promise<WorkspaceShell> {
    const [lines, input, output] = await this.#pipes("in", "in", "out");
    const command =
      "if [ -x /bin/bash ] || [ -x /usr/bin/bash ]; then exec bash --norc --noprofile --noediting -i; else exec sh -i; fi";
    const stdio = [lines.far, output.far, output.far, input.far, "ignore"] as const;
    const process = await this.#start(["/bin/sh", "-c", command], stdio, [lines, input, output]);
    const shell = new JailedShell(process, { lines, input, output }, this.#opened.limits, () => this.#isFull());
    await shell.start().catch(async (error: unknown) => {
      await shell.close();
      throw error;
    });
    return shell;
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

  async snapshot({ ends = false, key }: SnapshotOptions = {}): Promise<string> {
    this.#assertOpen();
    const { image } = this.#opened;
    if (ends) await this.#endAll();
    const { folder, snapshots } = this.#shared;
    const name = `snapshot-${crypto.randomUUID()}`;
    const path = join(folder, name);
    const output = openSync(path, "wx", 0o600);
    this.#snapshots.push(name);
    try {
      const from = this.#holder.path(this.#holder.hasOverlay ? "upper" : "tree");
      await this.#holder.tar(["--create", "--sparse", ...TAR, "--directory", from, "."], { output });
    } finally {
      closeSync(output);
    }
    this.#assertOpen();
    snapshots.set(name, { path, image });
    return key === undefined ? name : this.#keep(path, key);
  }

  async restore(name: string): Promise<void> {
    this.#assertOpen();
    const { image, limits } = this.#opened;
    const snapshot = this.#shared.snapshots.get(name) ?? (await this.#kept(name));
    if (snapshot === undefined || snapshot.image !== image) throw noSnapshot(name);
    const next = await this.#shared.hold(image, limits.diskBytes, snapshot).catch((error: unknown) => {
      this.#assertOpen();
      // The workspace that made the snapshot was closed meanwhile.
      throw (error as NodeJS.ErrnoException).code === "ENOENT" ? noSnapshot(name) : error;
    });
    const before = this.#holder;
    this.#holder = next;
    await this.#endAll();
    await before.close();
    if (this.#closing !== undefined) await next.close();
  }

  /** Copies a snapshot to where other processes find it, as a whole. */
  async #keep(path: string, key: string): Promise<string> {
    const file = await this.#shared.keptFile(this.#opened.image, key, this.#holder.hasOverlay);
    const writing = `${file}.${crypto.randomUUID()}`;
    await copyFile(path, writing);
    await rename(writing, file);
    return key;
  }

  async #kept(key: string): Promise<Snapshot | undefined> {
    const { image } = this.#opened;
    const path = await this.#shared.keptFile(image, key, this.#holder.hasOverlay);
    if (!existsSync(path)) return undefined;
    // Unused ones are removed.
    await utimes(path, new Date(), new Date()).catch(() => undefined);
    return { path, image };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { folder, snapshots } = this.#shared;
    await this.#endAll();
    await this.#holder.close();
    await Promise.all(
      this.#snapshots.map(async (name) => {
        snapshots.delete(name);
        await rm(join(folder, name), { force: true });
      }),
    );
    this.#opened.onClose();
  }

  async #endAll(): Promise<void> {
    const running = [...this.#running];
    for (const each of running) each.kill();
    await Promise.all(running.map(({ ended }) => ended));
  }

  async #pipes<D extends readonly ("in" | "out")[]>(...directions: D): Promise<{ [_ in keyof D]: Pipe }> {
    const opened: Pipe[] = [];
    try {
      for (const direction of directions) {
        this.#assertOpen();
        opened.push(await this.#shared.pipes.open(direction));
      }
      this.#assertOpen();
      return opened as { [_ in keyof D]: Pipe };
    } catch (error) {
      for (const pipe of opened) {
        pipe.release();
        pipe.stream.destroy();
      }
      this.#assertOpen();
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
      const { workdir } = this.#opened;
      // A program may have removed it, or put a link in its place.
      const isThere = await this.#files()
        .makeFolder(workdir)
        .catch(() => false);
      const start = isThere ? workdir : "/";
      const launch = this.#launch(command, start);
      this.#assertOpen();
      assertRunning(signal);
      const process = new JailedProcess(launch, stdio, this.#opened.limits);
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
    this.#assertOpen();
    const { bubblewrap, hostFolders, folders: shown } = this.#shared;
    const { image, env, limits, socket } = this.#opened;
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
      env: { ...ENVIRONMENT, ...env },
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

  #limitMet(code: number | null, limit: JailedProcess["limit"]): ExecResult["limit"] {
    if (limit !== undefined && limit !== "time") return limit;
    if (code === SIGNAL_BASE + constants.signals.SIGXFSZ) return "file-size";
    return this.#isFull() ? "disk" : undefined;
  }

  /** Whether the file system has no space for another page, or no place for another file. */
  #isFull(): boolean {
    if (this.#closing !== undefined) return false;
    const { bavail, ffree } = statfsSync(`/proc/self/fd/${this.#holder.tree}`);
    return bavail < 1 || ffree < 1;
  }

  #files(): TreeFiles {
    this.#assertOpen();
    return new TreeFiles(this.#holder.tree, this.#opened.workdir, this.#reserved);
  }

  /** Names of the root folder that are those of the jail or of the host. */
  get #reserved(): ReadonlySet<string> {
    const own = this.#opened.image === undefined ? OWN_AND_HOST : OWN;
    return own.union(new Set(Object.keys(this.#shared.folders)));
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw gone();
  }

  #failed(code: number | null, printed: string): MrlmError {
    const how = code === null ? "was killed from outside" : `could not be started (exit code ${code})`;
    return new MrlmError("SANDBOX_FAILED", `A command of a workspace ${how}.${printed === "" ? "" : ` ${printed}`}`);
  }
}

/** Arguments of tar that keep the marks of an overlay, and owners as numbers. */
export const TAR = ["--xattrs", "--xattrs-include=user.*", "--numeric-owner", "--file", "-"];

function noSnapshot(name: string): MrlmError {
  return new MrlmError("OPTIONS_INVALID", `There is no snapshot ${name} of a workspace with the same image.`, {
    hint: "A snapshot without a key exists until the workspace that made it is closed.",
  });
}

function gone(): MrlmError {
  return new MrlmError("SESSION_NOT_FOUND", "The workspace is closed.");
}
