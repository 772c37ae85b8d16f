import { closeSync, createReadStream, openSync, writeFileSync } from "node:fs";
import { PassThrough, Readable, type Writable } from "node:stream";
import { BaseWorkspace, type Opened } from "@mrlm/sandbox";
import { type ExecOptions, MrlmError, type Workspace } from "@mrlm/spec";
import type Docker from "dockerode";
import { type Container, USER } from "./container.ts";
import { engineFailed } from "./engine.ts";
import { ContainerProcess, type Program } from "./container-process.ts";
import { COMMAND, FILL, INPUT, LIST, NONE, OWN_ENV, PACK, READ, ROOM, SHELL, UNPACK, WRITE } from "./scripts.ts";

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

/** Image of a workspace. */
export interface Base {
  readonly image: string;
  /** Folders that programs may write to. */
  readonly folders: readonly string[];
}

interface Ran {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** It was ended because it printed more than a file may have. */
  readonly isTooLong: boolean;
}

/** Workspace in a container. */
export class DockerWorkspace extends BaseWorkspace<ContainerProcess> {
  readonly #engine: Docker;
  readonly #container: Container;
  readonly #base: Base;

  constructor(engine: Docker, container: Container, base: Base, opened: Opened) {
    super(opened);
    this.#engine = engine;
    this.#container = container;
    this.#base = base;
  }

  /** Writes the files of a tarball into a folder that has none. */
  async fill(folder: string, tarball: string): Promise<void> {
    const { code, stderr } = await this.#run(FILL, [USER, ...relative([folder])], {
      isRoot: true,
      stdin: () => createReadStream(tarball),
    });
    if (code !== 0)
      throw new MrlmError("SANDBOX_FAILED", `${folder} of the image could not be copied: ${stderr.trim()}.`, {
        hint: "Raise `disk_mb`: what an image has in the working directory counts.",
      });
  }

  protected async startCommand(
    command: string,
    { stdin }: Pick<ExecOptions, "stdin">,
    onOutput: (chunk: Buffer, stream: "stdout" | "stderr") => void,
  ): Promise<{ readonly process: ContainerProcess; readonly closed: Promise<unknown> }> {
    const process = await this.#start({
      ...{ script: COMMAND, command, args: [stdin === undefined ? "" : "1"], isLimited: true },
      stdin: stdin === undefined ? undefined : Buffer.from(stdin as Uint8Array),
      onStdout: (chunk) => onOutput(chunk, "stdout"),
      onStderr: (chunk) => onOutput(chunk, "stderr"),
    });
    return { process, closed: process.ended };
  }

  protected async startShell(command: string): Promise<{
    readonly process: ContainerProcess;
    readonly streams: { readonly lines: Writable; readonly input: Writable; readonly output: Readable };
  }> {
    const output = new Readable({ read: () => undefined });
    const process = await this.#start({
      ...{ script: SHELL, command, args: [], stdin: "open", isLimited: true },
      onStdout: (chunk) => void output.push(chunk),
    });
    void process.ended.then(() => output.push(null));
    const input = new PassThrough();
    let last: Promise<unknown> = Promise.resolve();
    input.on("data", (chunk: Buffer) => {
      const write = (): Promise<unknown> => this.#run(INPUT, [String(process.pid)], { stdin: chunk });
      // The end of the shell explains an input that it does not receive.
      last = last.then(write).catch(() => undefined);
    });
    return { process, streams: { lines: process.stream, input, output } };
  }

  protected async faultOf(process: ContainerProcess, code: number | null): Promise<MrlmError | undefined> {
    if (this.#container.failure !== undefined) return this.#container.failure;
    const { failure, limit } = process;
    if (failure === undefined && (code !== null || limit !== undefined)) return undefined;
    return engineFailed(
      "A command of a workspace did not end as it should",
      failure ?? new Error("it has no exit code"),
    );
  }

  async readFile(path: string): Promise<Uint8Array | undefined> {
    this.assertOpen();
    if (path.includes("\0")) return undefined;
    const ran = await this.#run(READ, [this.#absolute(path)]);
    if (ran.code === 0) return new Uint8Array(ran.stdout);
    if (ran.code === NONE || ran.isTooLong) return undefined;
    throw accessFailed(ran);
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    this.assertOpen();
    const bytes = Buffer.from(content as Uint8Array);
    const mode = bytes.subarray(0, 2).toString("latin1") === "#!" ? "755" : "644";
    const to = this.#absolute(path).replace(/\/+$/, "");
    const ran = path.includes("\0") ? undefined : await this.#run(WRITE, [to, mode], { stdin: bytes });
    if (ran?.code === 0) return;
    if (ran !== undefined && ran.code !== NONE) throw accessFailed(ran);
    const reason = ran?.stderr.trim().split("\n").at(-1) ?? "a path has no NUL";
    throw new MrlmError("DATA_INVALID", `${path} cannot be written in a workspace: ${reason}.`, {
      hint: `Name a path that is no folder, below ${this.#base.folders.join(", ")}, and keep to the disk limit. \`folders\` of the plugin and \`workdir\` name others.`,
    });
  }

  async list(path: string): Promise<Entries | undefined> {
    this.assertOpen();
    if (path.includes("\0")) return undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const ran = await this.#run(LIST, [this.#absolute(path)]);
      if (ran.code === NONE || ran.isTooLong) return undefined;
      if (ran.code !== 0) throw accessFailed(ran);
      const { stdout } = ran;
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

  protected snapshotBase(): string {
    return JSON.stringify([this.#base.image, this.#base.folders]);
  }

  protected async pack(file: number): Promise<void> {
    let bytes = 0;
    const most = 2 * this.opened.limits.diskBytes + TARBALL_BYTES;
    let failure: unknown;
    const write = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > most || failure !== undefined) return;
      try {
        writeFileSync(file, chunk);
      } catch (error) {
        failure = error;
      }
    };
    const folders = relative(this.#base.folders);
    const { code, stderr } = await this.#run(PACK, folders, { isRoot: true, onStdout: write });
    if (failure !== undefined) throw copyFailed((failure as Error).message, failure);
    if (code === 0 && bytes <= most) return;
    throw copyFailed(bytes > most ? "they have too many empty parts" : stderr);
  }

  protected async unpack(path: string): Promise<void> {
    const fd = openSync(path, "r");
    try {
      await this.endAll();
      const stdin = (): Readable => createReadStream(path, { fd, autoClose: false, start: 0 });
      const { code, stderr } = await this.#run(UNPACK, relative(this.#base.folders), { isRoot: true, stdin });
      if (code !== 0) throw copyFailed(stderr);
    } finally {
      closeSync(fd);
    }
  }

  protected release(): Promise<void> {
    return this.#container.close();
  }

  protected endAll(): Promise<void> {
    return this.#container.endAll().catch((error: unknown) => this.#fail(error));
  }

  #start(program: Omit<Program, "workdir" | "env" | "limits">): Promise<ContainerProcess> {
    const { workdir, env, limits } = this.opened;
    return ContainerProcess.start(this.#engine, this.#container, {
      ...program,
      workdir: program.isRoot === true ? "/" : workdir,
      ...{ env: program.isLimited ? env : OWN_ENV, limits },
    }).catch((error: unknown) => this.#fail(error));
  }

  /** Runs a script of this package to its end. */
  async #run(
    script: string,
    args: readonly string[],
    options: {
      readonly stdin?: Uint8Array | (() => Readable);
      readonly isRoot?: boolean;
      onStdout?(chunk: Buffer): void;
    } = {},
  ): Promise<Ran> {
    for (let attempt = 1; ; attempt++) {
      const printed = new Printed(this.opened.limits.fileBytes);
      let stderr = "";
      const process = await this.#start({
        ...{ script, args: ["", ...args], isLimited: false, ...options },
        onStdout: options.onStdout ?? ((chunk) => printed.add(chunk)),
        onStderr: (chunk) => void (stderr = (stderr + chunk.toString()).slice(-1000)),
      });
      void printed.tooLong.then(() => process.kill());
      void process.watch(this.opened.limits.timeoutMs);
      const code = await process.ended;
      this.assertOpen();
      if (this.#container.failure !== undefined) throw this.#container.failure;
      const { isTooLong } = printed;
      if ((code !== null && code !== KILLED) || isTooLong)
        return { code: isTooLong ? null : code, stdout: printed.bytes(), stderr, isTooLong };
      if (attempt === ATTEMPTS || options.onStdout !== undefined)
        throw accessFailed({ stderr: "the access was ended" });
      // Programs may also end each other: those of a workspace are one user. Not for the input of a shell, which would end with them.
      if (attempt + 1 === ATTEMPTS && script !== INPUT) await this.endAll();
    }
  }

  protected async isFull(): Promise<boolean> {
    if (this.#container.failure !== undefined) return false;
    const { diskBytes } = await this.#container.look();
    // They are those of all folders together.
    if (diskBytes < this.opened.limits.diskBytes) return false;
    const { code, stdout } = await this.#run(ROOM, this.#base.folders);
    return code === 0 && /^0 | 0$/m.test(stdout.toString());
  }

  #absolute(path: string): string {
    return path.startsWith("/") ? path : `${this.opened.workdir}/${path}`;
  }

  #fail(error: unknown): never {
    this.assertOpen();
    throw error;
  }
}

/** Output of a script, up to a limit. */
class Printed {
  readonly tooLong: Promise<void>;
  isTooLong = false;
  readonly #most: number;
  readonly #meet: () => void;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
    ({ promise: this.tooLong, resolve: this.#meet } = Promise.withResolvers<void>());
  }

  add(chunk: Buffer): void {
    if (this.isTooLong) return;
    this.#chunks.push(Buffer.from(chunk));
    this.#length += chunk.length;
    if (this.#length <= this.#most) return;
    this.isTooLong = true;
    this.#chunks = [];
    this.#meet();
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

function accessFailed({ stderr }: Pick<Ran, "stderr">): MrlmError {
  return new MrlmError("SANDBOX_FAILED", `A file of a workspace could not be accessed: ${stderr.trim()}.`);
}

function copyFailed(reason: string, cause?: unknown): MrlmError {
  return new MrlmError("SANDBOX_FAILED", `The files of a workspace could not be copied: ${reason.trim()}.`, { cause });
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
  const named = entries.filter(({ name }) => name !== "." && name !== "..");
  return named.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
