import type { SandboxCallOptions } from "./sandbox.ts";

/** Limits of a workspace. */
export interface WorkspaceLimits {
  /** Longest wall-clock time of a command in milliseconds. */
  readonly timeoutMs: number;
  /** Processor time of a command in milliseconds, of all its processes together, ended ones included. */
  readonly cpuMs: number;
  /** Resident memory in bytes of the processes of one `exec`, or of one shell. */
  readonly memoryBytes: number;
  /** Processes of one `exec`, or of one shell, at the same time. */
  readonly processes: number;
  /** Size of one file in bytes. */
  readonly fileBytes: number;
  /** Size of all files that the workspace has added or changed, in bytes. */
  readonly diskBytes: number;
  /** Bytes of stdout and of stderr of a command, each. Of more the head and the tail are kept. */
  readonly outputBytes: number;
}

/**
 * Limit that a command met. `cpu`, `memory` and `processes` end all its processes, and a shell; `file-size` ends the process that wrote the file; with `disk`
 * a write failed because the file system is full.
 */
export type WorkspaceLimit = "cpu" | "memory" | "processes" | "file-size" | "disk";

export interface WorkspaceOptions extends SandboxCallOptions {
  /** File system that the workspace begins with: an image of the provider. Default: the system folders of the host, read-only. */
  readonly image?: string;
  /** Files to write, by path. One that begins with `#!` is executable. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Variables of the environment of all commands. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute path of the folder in which commands and relative paths start; made where it is missing. Default: `/workspace`. */
  readonly workdir?: string;
  readonly limits?: Partial<WorkspaceLimits>;
  /** Path of the one Unix socket of the host that programs reach, at `/mrlm/socket`. Default: none. Other workspaces and the network are never reached. */
  readonly socket?: string;
}

export interface ExecOptions {
  readonly stdin?: string | Uint8Array;
  /** Shorter time limit than that of the workspace. */
  readonly timeoutMs?: number;
  /** Ends all processes of the command when aborted; the call rejects with CANCELLED. */
  readonly signal?: AbortSignal;
  /** Receives the output while the command runs, all of it. */
  onOutput?(bytes: Uint8Array, stream: "stdout" | "stderr"): void;
}

export interface ExecResult {
  /** `null` if the time limit, or a limit of all processes, ended the command. */
  readonly exitCode: number | null;
  /** Signal that ended the command, where the shell reports one (an exit code of 128 and its number). */
  readonly signal: string | null;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly timedOut: boolean;
  readonly limit?: WorkspaceLimit;
  /** Whether the middle of stdout or of stderr was left out. The bytes state how much. */
  readonly truncated: boolean;
}

export interface ShellRunOptions {
  /** Shorter time limit than that of the workspace. */
  readonly timeoutMs?: number;
  /** Input of the command, which stays open after it: a program that asks for more waits until its time limit. */
  readonly stdin?: string | Uint8Array;
  /** Interrupts the command when aborted, as the time limit does; the call rejects with CANCELLED. */
  readonly signal?: AbortSignal;
}

export interface ShellResult extends Pick<ExecResult, "exitCode" | "timedOut" | "limit" | "truncated"> {
  /** stdout and stderr in their order, with what background jobs have printed since the last command. */
  readonly output: Uint8Array;
}

/** Interactive shell: working directory, variables and background jobs are kept. Its processes end with it. */
export interface WorkspaceShell {
  /** Whether it can take no more commands: it was closed, it exited, or a limit ended it. */
  readonly hasEnded: boolean;
  /**
   * Runs commands, after those of earlier calls. At the time limit they receive SIGINT, then SIGKILL; a shell that still does not return is ended. Rejects with
   * SESSION_NOT_FOUND after the end of the shell.
   */
  run(commands: string, options?: ShellRunOptions): Promise<ShellResult>;
  close(): Promise<void>;
}

export interface SnapshotOptions {
  /** Ends all processes first, so that none changes a file meanwhile. */
  readonly ends?: boolean;
  /** Name of the copy. With one it is kept on disk after the close of the workspace and the end of the process, until it has not been used for 30 days: the name states all that its content depends on. */
  readonly key?: string;
}

export interface WorkspaceEntry {
  readonly name: string;
  readonly type: "file" | "directory" | "link" | "other";
  /** Size of a file. */
  readonly bytes: number;
}

/**
 * File tree and processes of one episode. A relative path starts at `workdir`, by default `/workspace`; links are followed within the workspace and never
 * outside. Methods reject with SANDBOX_FAILED if the workspace itself fails, and with SESSION_NOT_FOUND after `close`.
 */
export interface Workspace {
  /** Runs a command by `/bin/sh` in a process group of its own, to its end: processes that it leaves are ended. */
  exec(command: string, options?: ExecOptions): Promise<ExecResult>;
  /** Starts an interactive shell: bash where the image has it, else sh. */
  shell(): Promise<WorkspaceShell>;
  /** Returns the bytes of a file that was written in the workspace or belongs to its image; `undefined` where there is no regular file that can be read. */
  readFile(path: string): Promise<Uint8Array | undefined>;
  /** Writes or replaces a file as a whole, with its folders. A link is replaced. Rejects with DATA_INVALID where a part of the path is no folder. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>;
  /** Lists a folder in the order of names; `undefined` where there is none. */
  list(path: string): Promise<readonly WorkspaceEntry[] | undefined>;
  /** Stores a copy of the files, and returns its name. It exists until the workspace is closed, also for `restore` of another workspace with the same image. */
  snapshot(options?: SnapshotOptions): Promise<string>;
  /** Ends all processes, and replaces the files by those of a snapshot. Rejects with OPTIONS_INVALID where there is none of this name and image. */
  restore(snapshot: string): Promise<void>;
  /** Ends all processes and removes the files. */
  close(): Promise<void>;
}

/** Provider of workspaces. */
export interface Workspaces {
  /** Default limits. */
  readonly limits: WorkspaceLimits;
  /** Folder of this machine for Unix sockets that programs are to reach, which only this user can open. A socket in it is removed with its workspace. */
  readonly sockets: string;
  /**
   * Opens a workspace; waits for a place if the largest number is open. Rejects with SANDBOX_FAILED, with OPTIONS_INVALID for an unknown image, with
   * RESOURCE_EXHAUSTED if the queue is full or the wait is too long, and with CANCELLED when the signal is aborted.
   */
  open(options?: WorkspaceOptions): Promise<Workspace>;
  /** Closes all workspaces. */
  close(): Promise<void>;
}
