import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { type ExecResult, MrlmError, type ShellResult, type WorkspaceLimits, type WorkspaceShell } from "@mrlm/spec";
import { BoundedOutput } from "./bounded-output.ts";
import { assertCommand, assertRunning } from "./command-errors.ts";

/** Time that a command has to end after a signal. */
const GRACE_MS = 1000;
/** Descriptor of the input of commands in the shell. */
const SHELL_INPUT = 3;

type ShellRunOptions = NonNullable<Parameters<WorkspaceShell["run"]>[1]>;

/** Streams of a shell, of which the far ends are its descriptors 0, 3, and 1 with 2. */
export interface ShellStreams {
  /** Lines for the shell. */
  readonly lines: Writable;
  /** Input of the commands. */
  readonly input: Writable;
  readonly output: Readable;
}

/** Process of a shell with all processes that it starts. */
export interface ShellProcess {
  /** Limit that ended it; `time` for its longest time. */
  readonly limit: ExecResult["limit"] | "time";
  readonly hasEnded: boolean;
  /** Settles with the exit code after the end. */
  readonly ended: Promise<number | null>;
  /** Starts the limits of a command. @param wallMs longest time of the process; default: any */
  watch(wallMs?: number): Promise<void>;
  /** Returns its processes, first the shell. */
  processes(): readonly number[] | Promise<readonly number[]>;
  /** Sends a signal to its processes, except some. */
  signal(name: "SIGINT" | "SIGKILL", except: readonly number[]): void | Promise<void>;
  /** Ends all its processes. */
  kill(): void;
}

/** Interactive shell without a terminal. Each command is followed by a line that prints a mark, which ends its output. */
export class PipedShell implements WorkspaceShell {
  readonly #process: ShellProcess;
  readonly #streams: ShellStreams;
  readonly #limits: WorkspaceLimits;
  readonly #isFull: () => boolean | Promise<boolean>;
  readonly #closed: Promise<void>;
  #last: Promise<unknown> = Promise.resolve();
  #pending: Buffer = Buffer.alloc(0);
  #output: BoundedOutput;
  #mark = "";
  #onMark: (status: number) => void = () => undefined;

  /** @param isFull whether the disk of the workspace is full */
  constructor(
    process: ShellProcess,
    streams: ShellStreams,
    limits: WorkspaceLimits,
    isFull: () => boolean | Promise<boolean>,
  ) {
    this.#process = process;
    this.#streams = streams;
    this.#limits = limits;
    this.#isFull = isFull;
    this.#output = new BoundedOutput(limits.outputBytes);
    const { lines, input, output } = streams;
    this.#closed = new Promise((resolve) => void output.on("close", () => resolve()));
    void process.ended.then(() => {
      lines.destroy();
      input.destroy();
    });
    output.on("data", (chunk: Buffer) => this.#receive(chunk));
  }

  get hasEnded(): boolean {
    return this.#process.hasEnded;
  }

  /** Makes the shell quiet: no prompts, no history. Rejects with SANDBOX_FAILED if it does not start. */
  async start(): Promise<void> {
    const result = await this.run("PS1= PS2=; case $BASH_VERSION in ?*) set +o history +H ;; esac");
    if (result.exitCode !== 0)
      throw new MrlmError("SANDBOX_FAILED", `A shell could not be started: ${Buffer.from(result.output).toString()}`);
  }

  run(commands: string, options: ShellRunOptions = {}): Promise<ShellResult> {
    const run = this.#last.then(() => this.#run(commands, options));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async close(): Promise<void> {
    this.#process.kill();
    await Promise.all([this.#process.ended, this.#closed]);
  }

  async #run(commands: string, { timeoutMs, stdin, signal }: ShellRunOptions): Promise<ShellResult> {
    assertRunning(signal);
    assertCommand(commands);
    if (this.hasEnded) throw new MrlmError("SESSION_NOT_FOUND", "The shell has ended.");
    await this.#process.watch();
    const [shell, ...jobs] = await this.#process.processes();
    const wallMs = Math.min(timeoutMs ?? this.#limits.timeoutMs, this.#limits.timeoutMs);
    const { promise: marked, resolve } = Promise.withResolvers<number>();
    this.#mark = randomUUID();
    this.#onMark = resolve;
    if (stdin !== undefined) this.#streams.input.write(stdin as Uint8Array);
    const quoted = `'${commands.replaceAll("'", `'\\''`)}'`;
    this.#streams.lines.write(
      `eval ${quoted} <&${SHELL_INPUT} ${SHELL_INPUT}<&-\nprintf '\\036%s %d\\036' ${this.#mark} "$?"\n`,
    );
    const ended = Promise.all([this.#process.ended, this.#closed]).then(([code]) => ({ code }));
    const status = marked.then((code) => ({ code }));
    let end = await this.#within(wallMs, signal, status, ended);
    const isStopped = end === undefined;
    if (end === undefined) end = await this.#stop(shell, jobs, status, ended);
    assertRunning(signal);
    const { limit } = this.#process;
    const output = this.#output;
    if (this.hasEnded) output.add(this.#pending);
    this.#output = new BoundedOutput(this.#limits.outputBytes);
    const met = limit !== undefined && limit !== "time" ? limit : (await this.#isFull()) ? "disk" : undefined;
    return {
      exitCode: isStopped || limit !== undefined ? null : end.code,
      output: output.bytes(),
      timedOut: isStopped && met !== "cpu" && met !== "memory" && met !== "processes",
      truncated: output.isTruncated,
      ...(met !== undefined && { limit: met }),
    };
  }

  /** Waits for the end of a command, up to its time limit or an abort. */
  async #within<T>(
    ms: number,
    signal: AbortSignal | undefined,
    ...ends: readonly Promise<T>[]
  ): Promise<T | undefined> {
    const timer = new AbortController();
    const stops = signal === undefined ? timer.signal : AbortSignal.any([timer.signal, signal]);
    const late = delay(ms, undefined, { signal: stops }).catch(() => undefined);
    try {
      return await Promise.race([...ends, late]);
    } finally {
      timer.abort();
    }
  }

  /** Ends a command: by SIGINT, which its background jobs ignore, then by SIGKILL, then with the shell. Earlier jobs continue. */
  async #stop<T>(shell = 0, jobs: readonly number[], ...ends: readonly [Promise<T>, Promise<T>]): Promise<T> {
    await this.#process.signal("SIGINT", jobs);
    const interrupted = await this.#within(GRACE_MS, undefined, ...ends);
    if (interrupted !== undefined) return interrupted;
    await this.#process.signal("SIGKILL", [shell, ...jobs]);
    await this.#process.signal("SIGINT", jobs);
    const killed = await this.#within(GRACE_MS, undefined, ...ends);
    if (killed !== undefined) return killed;
    this.#process.kill();
    return ends[1];
  }

  /** Keeps output up to the mark; a part of the mark may come later. */
  #receive(chunk: Buffer): void {
    const all = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const mark = Buffer.from(`\x1E${this.#mark} `);
    const at = this.#mark === "" ? -1 : all.indexOf(mark);
    const end = at === -1 ? -1 : all.indexOf(0x1e, at + mark.length);
    if (end !== -1) {
      this.#output.add(all.subarray(0, at));
      this.#pending = Buffer.from(all.subarray(end + 1));
      this.#mark = "";
      this.#onMark(Number(all.subarray(at + mark.length, end).toString("latin1")));
      return;
    }
    const kept = at === -1 ? Math.max(0, all.length - mark.length) : at;
    this.#output.add(all.subarray(0, kept));
    this.#pending = Buffer.from(all.subarray(kept));
  }
}
