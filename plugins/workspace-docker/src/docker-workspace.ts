import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import {
  assertCommand,
  assertRunning,
  BoundedOutput,
  gone,
  INTERACTIVE,
  PipedShell,
  signalOf,
  type Snapshot,
  type Snapshots,
} from "@mrlm/sandbox";
import {
  type ExecOptions,
  type ExecResult,
  MrlmError,
  type Workspace,
  type WorkspaceLimits,
  type WorkspaceShell,
} from "@mrlm/spec";
import type Docker from "dockerode";
import { type Container, USER } from "./container.ts";
import { ContainerProcess, type Program } from "./container-process.ts";
import { COMMAND, FILL, INPUT, LIST, NONE, PACK, READ, SHELL, UNPACK, WRITE } from "./scripts.ts";

type SnapshotOptions = NonNullable<Parameters<Workspace["snapshot"]>[0]>;
type Entries = NonNullable<Awaited<ReturnType<Workspace["list"]>>>;

/** Attempts of a read or a write, which ends with all others where a command meets a limit. */
const ATTEMPTS = 3;
const KILLED = 137;
/** Types by their bits of a mode. */
const TYPES: Readonly<Record<number, Entries[number]["type"]>> = {
  0o100000: "file",
  0o040000: "directory",
  0o120000: "link",
};
const TYPE_BITS = 0o170000;
/** Room of a tarball beside its files. */
const TARBALL_BYTES = 64 * 2 ** 20;

/** Options with which a workspace was opened, and what it shares with others. */
export interface Opened {
  readonly engine: Docker;
  readonly snapshots: Snapshots;
  /** What snapshots lie over. */
  readonly base: string;
  readonly folders: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly limits: WorkspaceLimits;
  onClose(): void;
}

interface Ran {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Workspace in a container. */
export class DockerWorkspace implements Workspace {
  readonly #container: Container;
  readonly #opened: Opened;
  readonly #snapshots: Snapshot[] = [];
  #closing: Promise<void> | undefined;

  constructor(container: Container, opened: Opened) {
    this.#container = container;
    this.#opened = opened;
  }

  /** Writes the files of a tarball into a folder that has none. */
  async fill(folder: string, tarball: string): Promise<void> {
    const { code, stderr } = await this.#run(FILL, [USER, ...relative([folder])], {
      isRoot: true,
      stdin: createReadStream(tarball),
    });
    if (code !== 0)
      throw new MrlmError("SANDBOX_FAILED", `${folder} of the image could not be copied: ${stderr.trim()}.`, {
        hint: "Raise `disk_mb`: what an image has in the working directory counts.",
      });
  }

  async exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    const { stdin, timeoutMs, signal, onOutput } = options;
    assertCommand(command);
    this.#assertOpen();
    assertRunning(signal);
    const { limits } = this.#opened;
    const [stdout, stderr] = [new BoundedOutput(limits.outputBytes), new BoundedOutput(limits.outputBytes)];
    const receive = (kept: BoundedOutput, name: "stdout" | "stderr") => (chunk: Buffer) => {
      kept.add(chunk);
      onOutput?.(new Uint8Array(chunk), name);
    };
    const process = await this.#start({
      ...{ script: COMMAND, command, args: [stdin === undefined ? "" : "1"], isLimited: true },
      stdin: stdin === undefined ? undefined : Buffer.from(stdin as Uint8Array),
      onStdout: receive(stdout, "stdout"),
      onStderr: receive(stderr, "stderr"),
    });
    const cancel = (): void => process.kill();
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    void process.watch(Math.min(timeoutMs ?? limits.timeoutMs, limits.timeoutMs));
    const code = await process.ended;
    signal?.removeEventListener("abort", cancel);
    assertRunning(signal);
    this.#assertRuns();
    const { limit } = process;
    const met = await this.#limitMet(code, limit);
    return {
      exitCode: limit === undefined ? code : null,
      signal: (limit === undefined && signalOf(code)) || null,
      stdout: stdout.bytes(),
      stderr: stderr.bytes(),
      timedOut: limit === "time",
      ...(met !== undefined && { limit: met }),
      truncated: stdout.isTruncated || stderr.isTruncated,
    };
  }

  async shell(): Promise<WorkspaceShell> {
    this.#assertOpen();
    const output = new Readable({ read: () => undefined });
    const process = await this.#start({
      ...{ script: SHELL, command: INTERACTIVE, args: [], stdin: "open", isLimited: true },
      onStdout: (chunk) => void output.push(chunk),
    });
    void process.ended.then(() => output.push(null));
    const input = new Writable({
      write: (chunk: Buffer, _, done) =>
        void this.#run(INPUT, [String(process.pid)], { stdin: chunk }).then(
          () => done(),
          () => done(),
        ),
    });
    const streams = { lines: process.stream, input, output };
    const shell = new PipedShell(process, streams, this.#opened.limits, () => this.#isFull());
    await shell.start().catch(async (error: unknown) => {
      await shell.close();
      this.#assertRuns();
      throw error;
    });
    return shell;
  }

  async readFile(path: string): Promise<Uint8Array | undefined> {
    this.#assertOpen();
    if (path.includes("\0")) return undefined;
    const { code, stdout } = await this.#run(READ, [this.#absolute(path)]);
    return code === 0 ? new Uint8Array(stdout) : undefined;
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    this.#assertOpen();
    const bytes = Buffer.from(content as Uint8Array);
    const mode = bytes.subarray(0, 2).toString("latin1") === "#!" ? "755" : "644";
    const to = this.#absolute(path).replace(/\/+$/, "");
    const ran = path.includes("\0") ? undefined : await this.#run(WRITE, [to, mode], { stdin: bytes });
    if (ran?.code === 0) return;
    const reason = ran?.stderr.trim().split("\n").at(-1) ?? "a path has no NUL";
    throw new MrlmError("DATA_INVALID", `${path} cannot be written in a workspace: ${reason}.`, {
      hint: `Name a path that is no folder, below ${this.#opened.folders.join(", ")}, and keep to the disk limit. \`folders\` of the plugin and \`workdir\` name others.`,
    });
  }

  async list(path: string): Promise<Entries | undefined> {
    this.#assertOpen();
    if (path.includes("\0")) return undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { code, stdout } = await this.#run(LIST, [this.#absolute(path)]);
      if (code === NONE) return undefined;
      if (stdout.length === 0) return [];
      const end = stdout.indexOf("\0\0");
      const names = stdout.subarray(0, end).toString().split("\0");
      const stats = stdout
        .subarray(end + 2)
        .toString("latin1")
        .trimEnd()
        .split("\n");
      // A name that is gone has no line: the folder was changed meanwhile.
      if (names.length === stats.length) return entriesOf(names, stats);
    }
    return [];
  }

  async snapshot({ ends = false, key }: SnapshotOptions = {}): Promise<string> {
    this.#assertOpen();
    if (ends) await this.#endAll();
    const { snapshots, folders, base, limits } = this.#opened;
    const snapshot = snapshots.make();
    const file = openSync(snapshot.path, "wx", 0o600);
    this.#snapshots.push(snapshot);
    let bytes = 0;
    const most = 2 * limits.diskBytes + TARBALL_BYTES;
    const write = (chunk: Buffer): void => void ((bytes += chunk.length) <= most && writeSync(file, chunk));
    try {
      const { code, stderr } = await this.#run(PACK, relative(folders), { isRoot: true, onStdout: write });
      if (code !== 0 || bytes > most)
        throw new MrlmError(
          "SANDBOX_FAILED",
          `The files of a workspace could not be copied: ${bytes > most ? "they have too many empty parts" : stderr.trim()}.`,
        );
    } finally {
      closeSync(file);
    }
    this.#assertOpen();
    return snapshots.add(snapshot, base, key);
  }

  async restore(name: string): Promise<void> {
    this.#assertOpen();
    const { snapshots, folders, base } = this.#opened;
    const path = snapshots.find(name, base);
    await this.#endAll();
    const stdin = createReadStream(path);
    const { code, stderr } = await this.#run(UNPACK, relative(folders), { isRoot: true, stdin });
    if (code !== 0)
      throw new MrlmError("SANDBOX_FAILED", `The files of a workspace could not be restored: ${stderr.trim()}.`);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#container.close().finally(() => this.#opened.onClose());
    await this.#opened.snapshots.remove(this.#snapshots);
  }

  async #endAll(): Promise<void> {
    await this.#container.endAll().catch((error: unknown) => {
      this.#assertOpen();
      throw error;
    });
  }

  #start(program: Omit<Program, "workdir" | "env" | "limits">): Promise<ContainerProcess> {
    const { engine, workdir, env, limits } = this.#opened;
    return ContainerProcess.start(engine, this.#container, {
      ...program,
      ...{ workdir: program.isRoot === true ? "/" : workdir, env, limits },
    }).catch((error: unknown) => {
      this.#assertOpen();
      throw error;
    });
  }

  /** Runs a script of this package to its end. */
  async #run(
    script: string,
    args: readonly string[],
    options: {
      readonly stdin?: Uint8Array | Readable;
      readonly isRoot?: boolean;
      onStdout?(chunk: Buffer): void;
    } = {},
  ): Promise<Ran> {
    for (let attempt = 1; ; attempt++) {
      const chunks: Buffer[] = [];
      let stderr = "";
      const process = await this.#start({
        ...{ script, args: ["", ...args], isLimited: false, ...options },
        onStdout: options.onStdout ?? ((chunk) => void chunks.push(Buffer.from(chunk))),
        onStderr: (chunk) => void (stderr = (stderr + chunk.toString()).slice(-1000)),
      });
      void process.watch(this.#opened.limits.timeoutMs);
      const code = await process.ended;
      this.#assertRuns();
      if (code !== null && code !== KILLED) return { code, stdout: Buffer.concat(chunks), stderr };
      if (attempt === ATTEMPTS || options.onStdout !== undefined)
        throw new MrlmError("SANDBOX_FAILED", "A file of a workspace could not be accessed: the access was ended.");
    }
  }

  async #limitMet(code: number | null, limit: ContainerProcess["limit"]): Promise<ExecResult["limit"]> {
    if (limit !== undefined && limit !== "time") return limit;
    if (signalOf(code) === "SIGXFSZ") return "file-size";
    return (await this.#isFull()) ? "disk" : undefined;
  }

  /** Whether the files take the space of one file system. */
  async #isFull(): Promise<boolean> {
    if (this.#closing !== undefined || this.#container.failure !== undefined) return false;
    const { diskBytes } = await this.#container.look();
    return diskBytes >= this.#opened.limits.diskBytes;
  }

  #absolute(path: string): string {
    return path.startsWith("/") ? path : `${this.#opened.workdir}/${path}`;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw gone();
  }

  #assertRuns(): void {
    this.#assertOpen();
    if (this.#container.failure !== undefined) throw this.#container.failure;
  }
}

/** Paths as tar names them. */
function relative(folders: readonly string[]): string[] {
  return folders.map((path) => path.slice(1));
}

function entriesOf(names: readonly string[], stats: readonly string[]): Entries {
  const entries = names.map((name, at): Entries[number] => {
    const [mode = "", size] = (stats[at] as string).split(" ");
    const type = TYPES[Number.parseInt(mode, 16) & TYPE_BITS] ?? "other";
    return { name, type, bytes: type === "file" ? Number(size) : 0 };
  });
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
