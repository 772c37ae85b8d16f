import { type Duplex, pipeline, type Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type ExecResult, MrlmError, type WorkspaceLimits } from "@mrlm/spec";
import type Docker from "dockerode";
import { type Command, type Container, demux, hijack, DISK_FACTOR, USER } from "./container.ts";
import { engineFailed, within } from "./engine.ts";
import type { Look } from "./look.ts";

type WorkspaceLimit = NonNullable<ExecResult["limit"]>;

/** Time that an engine has to pass on the rest of an output, and to name the exit code. */
const GRACE_MS = 5000;
const EXIT_MS = 30_000;
const BLOCK_BYTES = 512;
const ATTEMPTS = 3;
/** Growth of the files by a command over full file systems, within which the counters of the kernel may be late. */
const GROWTH_BYTES = 2 ** 20;

/** Program in a container. */
export interface Program {
  readonly script: string;
  /** First argument of the script. Limit of files and `workdir` follow, then `args`. */
  readonly command?: string;
  readonly workdir: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly limits: WorkspaceLimits;
  /** The limits of commands hold for it, and not for the reads and writes of this process. */
  readonly isLimited: boolean;
  readonly isRoot?: boolean;
  /** `open`: what is written to its stream. A function opens a stream, again for each attempt of a start. */
  readonly stdin?: Uint8Array | (() => Readable) | "open" | undefined;
  onStdout(chunk: Buffer): void;
  onStderr?(chunk: Buffer): void;
}

/** Process that the engine has started in a container, with all that it starts. */
export class ContainerProcess implements Command {
  readonly pid: number;
  readonly isLimited: boolean;
  /** Time of its start in ticks. */
  readonly start: number;
  readonly ended: Promise<number | null>;
  readonly stream: Duplex;
  limit: WorkspaceLimit | "time" | undefined;
  /** Reason why its processes may run on, or its exit code is not known. */
  failure: unknown;
  readonly #container: Container;
  readonly #exec: Docker.Exec;
  readonly #limits: WorkspaceLimits;
  readonly #gone = Promise.withResolvers<void>();
  readonly #closed: Promise<void>;
  #base: Look;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    container: Container,
    exec: Docker.Exec,
    started: { readonly pid: number; readonly stream: Duplex; readonly base: Look },
    { limits, isLimited }: Program,
  ) {
    this.#container = container;
    this.#exec = exec;
    this.pid = started.pid;
    this.stream = started.stream;
    this.#base = started.base;
    this.start = started.base.processes.find(({ pid }) => pid === started.pid)?.start ?? 0;
    this.#closed = new Promise((resolve) => {
      if (this.stream.closed) resolve();
      else this.stream.once("close", resolve);
    });
    this.#limits = limits;
    this.isLimited = isLimited;
    this.ended = this.#end();
  }

  /** Starts a program, and lets it run when it is watched. Rejects with SANDBOX_FAILED where the engine does not start it. */
  static async start(engine: Docker, container: Container, program: Program, attempt = 1): Promise<ContainerProcess> {
    const { script, command = "", args, workdir, env, limits, isRoot = false, isLimited, stdin } = program;
    const blocks = String(Math.floor(limits.fileBytes / BLOCK_BYTES));
    let stream: Duplex | undefined;
    let pid: number | undefined;
    try {
      if (container.failure !== undefined) throw container.failure;
      const exec = await within(
        container.engine.exec({
          Cmd: ["/bin/sh", "-c", script, "sh", command, isLimited ? blocks : "unlimited", workdir, ...args],
          Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
          User: isRoot ? "0:0" : USER,
          ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false },
        }),
      );
      stream = await hijack((abortSignal) => exec.start({ hijack: true, stdin: true, abortSignal }));
      // The end of the program explains a broken pipe.
      stream.on("error", () => undefined);
      pid = await within(firstLine(engine, stream, program));
      const process = new ContainerProcess(container, exec, { pid, stream, base: await container.look() }, program);
      container.add(process);
      void process.#seekEnd();
      stream.write("\n");
      if (stdin === undefined || stdin instanceof Uint8Array) stream.end(stdin);
      // A program that has not received all fails: its stream is closed.
      else if (stdin !== "open") pipeline(stdin(), stream, () => undefined);
      return process;
    } catch (error) {
      stream?.destroy();
      // All programs end where another command meets a limit, also one that has not begun.
      if (stream !== undefined && pid === undefined && container.failure === undefined && attempt < ATTEMPTS) {
        // Programs may also end each other: those of a workspace are one user.
        if (attempt + 1 === ATTEMPTS) await container.endAll().catch(() => undefined);
        return ContainerProcess.start(engine, container, program, attempt + 1);
      }
      throw container.failure ?? engineFailed("A command could not be started in a container", error);
    }
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Starts the limits of a command. Those of a process with a longest time have begun before it. */
  async watch(wallMs?: number): Promise<void> {
    if (this.#hasEnded) return;
    if (wallMs === undefined) this.#base = await this.#container.look().catch(() => this.#base);
    else
      this.#timer = setTimeout(() => {
        this.limit ??= "time";
        this.kill();
      }, wallMs);
    this.#container.hasten();
  }

  async processes(): Promise<readonly number[]> {
    return this.#container.processesOf(this).catch(() => []);
  }

  async signal(name: "SIGINT" | "SIGKILL", except: readonly number[]): Promise<void> {
    const pids = (await this.processes()).filter((pid) => !except.includes(pid));
    await this.#container.signal(name, pids).catch(() => undefined);
  }

  kill(): void {
    if (!this.#hasEnded) void this.#container.end(this).catch(() => undefined);
  }

  /** Returns the limit that the container has met since the command began. */
  limitAt(look: Look): WorkspaceLimit | undefined {
    const { cpuMs, memoryBytes, processes, diskBytes } = this.#limits;
    if (!this.isLimited) return undefined;
    if (look.kills > this.#base.kills || look.memoryBytes > memoryBytes) return "memory";
    if (look.refusedForks > this.#base.refusedForks || look.commandProcesses > processes) return "processes";
    if (look.cpuMs - this.#base.cpuMs > cpuMs) return "cpu";
    // A command that removes files runs.
    const most = Math.max(DISK_FACTOR * diskBytes, this.#base.diskBytes + GROWTH_BYTES);
    return look.diskBytes > most ? "disk" : undefined;
  }

  /** Names the limit at which all processes end. */
  meet(limit: WorkspaceLimit): void {
    if (this.isLimited) this.limit ??= limit;
  }

  /** Takes notice that the process, or its container, has ended. */
  onGone(): void {
    this.#gone.resolve();
  }

  /** Looks for its end when its stream has closed. An engine closes that also where a program has closed its outputs and runs. */
  async #seekEnd(): Promise<void> {
    await this.#closed;
    for (let pauseMs = 4; !this.#hasEnded; pauseMs = Math.min(250, pauseMs * 1.5)) {
      await this.#container.look().catch(() => this.onGone());
      await delay(pauseMs);
    }
  }

  async #end(): Promise<number | null> {
    await this.#gone.promise;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    try {
      // Processes that it left hold its output open.
      await this.#container.end(this);
      await Promise.race([this.#closed, delay(GRACE_MS, undefined, { ref: false })]);
      // A limit of the kernel may be met between two looks.
      const met = this.limitAt(await this.#container.look());
      if (met !== undefined && met !== "disk") this.meet(met);
      return this.limit === undefined ? await this.#exitCode() : null;
    } catch (error) {
      this.failure = error;
      return null;
    } finally {
      this.#container.forget(this);
      this.stream.destroy();
    }
  }

  async #exitCode(): Promise<number | null> {
    const end = performance.now() + EXIT_MS;
    for (;;) {
      const { Running, ExitCode } = await within(this.#exec.inspect());
      if (!Running) return ExitCode;
      // Podman names 0 for a program that runs.
      if (performance.now() > end)
        throw new MrlmError("SANDBOX_FAILED", "The container engine does not name the exit code of a command.");
      await delay(5);
    }
  }
}

/** Reads the process id, which a program prints first; passes on what comes after it. */
function firstLine(engine: Docker, stream: Duplex, { onStdout, onStderr }: Program): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let head: Buffer | undefined = Buffer.alloc(0);
  let printed = "";
  demux(
    engine,
    stream,
    (chunk) => {
      if (head === undefined) return onStdout(chunk);
      head = Buffer.concat([head, chunk]);
      const at = head.indexOf("\n");
      if (at === -1) return;
      const rest = head.subarray(at + 1);
      resolve(Number(head.subarray(0, at).toString("latin1")));
      head = undefined;
      if (rest.length > 0) onStdout(rest);
    },
    (chunk) => {
      if (head !== undefined) printed += chunk.toString();
      onStderr?.(chunk);
    },
  );
  stream.on("close", () =>
    reject(new MrlmError("SANDBOX_FAILED", `A command could not be started in a container: ${printed.trim()}.`)),
  );
  return promise;
}
