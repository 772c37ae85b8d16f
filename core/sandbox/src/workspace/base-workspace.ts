import { closeSync, openSync } from "node:fs";
import {
  type ExecOptions,
  type ExecResult,
  type MrlmError,
  type Workspace,
  type WorkspaceLimits,
  type WorkspaceShell,
} from "@mrlm/spec";
import { BoundedOutput } from "./bounded-output.ts";
import { assertCommand, assertRunning, gone } from "./command-errors.ts";
import { INTERACTIVE, signalOf } from "./conventions.ts";
import { PipedShell, type ShellProcess, type ShellStreams } from "./shell.ts";
import { noSnapshot, type Snapshot, type Snapshots } from "./snapshots.ts";

type SnapshotOptions = NonNullable<Parameters<Workspace["snapshot"]>[0]>;

/** Options with which a workspace was opened. */
export interface Opened {
  readonly image: string | undefined;
  /** Environment of commands. */
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly limits: WorkspaceLimits;
  readonly socket: string | undefined;
  /** Snapshots of its provider. */
  readonly snapshots: Snapshots;
  onClose(): void;
}

/** Command that has been started. */
export interface StartedCommand<P extends ShellProcess = ShellProcess> {
  readonly process: P;
  /** Settles when its output is complete. */
  readonly closed: Promise<unknown>;
}

/** Rules of workspaces that hold for every provider: limits of commands, output, shells, names of snapshots. */
export abstract class BaseWorkspace<P extends ShellProcess = ShellProcess> implements Workspace {
  protected readonly opened: Opened;
  readonly #own: Snapshot[] = [];
  #closing: Promise<void> | undefined;

  constructor(opened: Opened) {
    this.opened = opened;
  }

  abstract readFile(path: string): ReturnType<Workspace["readFile"]>;
  abstract writeFile(path: string, content: string | Uint8Array): Promise<void>;
  abstract list(path: string): ReturnType<Workspace["list"]>;

  /** Starts a command, and passes on its output. */
  protected abstract startCommand(
    command: string,
    options: Pick<ExecOptions, "stdin" | "signal">,
    onOutput: (chunk: Buffer, stream: "stdout" | "stderr") => void,
  ): Promise<StartedCommand<P>>;
  /** @param command which becomes an interactive shell */
  protected abstract startShell(command: string): Promise<{ readonly process: P; readonly streams: ShellStreams }>;
  /** Returns the error of a command that has not ended by itself or by a limit. */
  protected abstract faultOf(process: P, code: number | null, printed: string): Promise<MrlmError | undefined>;
  /** Whether there is no space for more files. */
  protected abstract isFull(): boolean | Promise<boolean>;
  /** Ends all processes. */
  protected abstract endAll(): Promise<void>;
  /** Names what snapshots lie over. */
  protected abstract snapshotBase(): string | Promise<string>;
  /** Writes a tarball of the files to an open file. */
  protected abstract pack(file: number): Promise<void>;
  /** Ends all processes, and replaces the files by those of a tarball. */
  protected abstract unpack(path: string): Promise<void>;
  /** Ends all processes, and removes the files. */
  protected abstract release(): Promise<void>;

  async exec(command: string, options: ExecOptions = {}): Promise<ExecResult> {
    const { stdin, timeoutMs, signal, onOutput } = options;
    assertCommand(command);
    assertRunning(signal);
    this.assertOpen();
    const { timeoutMs: longest, outputBytes } = this.opened.limits;
    const kept = { stdout: new BoundedOutput(outputBytes), stderr: new BoundedOutput(outputBytes) };
    const { process, closed } = await this.startCommand(command, { stdin, signal } as ExecOptions, (chunk, stream) => {
      kept[stream].add(chunk);
      onOutput?.(new Uint8Array(chunk), stream);
    });
    const cancel = (): void => process.kill();
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    void process.watch(Math.min(timeoutMs ?? longest, longest));
    const [code] = await Promise.all([process.ended, closed]);
    signal?.removeEventListener("abort", cancel);
    assertRunning(signal, [kept.stdout, kept.stderr]);
    this.assertOpen();
    const [stdout, stderr] = [kept.stdout.bytes(), kept.stderr.bytes()];
    const fault = await this.faultOf(process, code, Buffer.from(stderr).toString());
    if (fault !== undefined) throw fault;
    const { limit } = process;
    const met = await this.#limitMet(code, limit);
    return {
      exitCode: limit === undefined ? code : null,
      signal: (limit === undefined && signalOf(code)) || null,
      ...{ stdout, stderr },
      timedOut: limit === "time",
      ...(met !== undefined && { limit: met }),
      truncated: kept.stdout.isTruncated || kept.stderr.isTruncated,
    };
  }

  async shell(): Promise<WorkspaceShell> {
    this.assertOpen();
    const { process, streams } = await this.startShell(INTERACTIVE);
    const shell = new PipedShell(process, streams, this.opened.limits, () => this.isFull());
    await shell.start().catch(async (error: unknown) => {
      await shell.close();
      this.assertOpen();
      throw error;
    });
    return shell;
  }

  async snapshot({ ends = false, key }: SnapshotOptions = {}): Promise<string> {
    this.assertOpen();
    if (ends) await this.endAll();
    const { snapshots } = this.opened;
    const snapshot = snapshots.make();
    const file = openSync(snapshot.path, "wx", 0o600);
    this.#own.push(snapshot);
    try {
      await this.pack(file);
    } finally {
      closeSync(file);
    }
    this.assertOpen();
    return snapshots.add(snapshot, await this.snapshotBase(), key);
  }

  async restore(name: string): Promise<void> {
    this.assertOpen();
    const path = this.opened.snapshots.find(name, await this.snapshotBase());
    await this.unpack(path).catch((error: unknown) => {
      this.assertOpen();
      // The workspace that made the snapshot was closed meanwhile.
      throw (error as NodeJS.ErrnoException).code === "ENOENT" ? noSnapshot(name) : error;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  protected get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  protected assertOpen(): void {
    if (this.isClosed) throw gone();
  }

  async #close(): Promise<void> {
    try {
      await this.release().finally(() => this.opened.onClose());
    } finally {
      await this.opened.snapshots.remove(this.#own);
    }
  }

  async #limitMet(code: number | null, limit: ShellProcess["limit"]): Promise<ExecResult["limit"]> {
    if (limit !== undefined && limit !== "time") return limit;
    if (signalOf(code) === "SIGXFSZ") return "file-size";
    return !this.isClosed && (await this.isFull()) ? "disk" : undefined;
  }
}
