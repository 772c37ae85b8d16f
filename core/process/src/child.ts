import { type ChildProcess, fork, type ForkOptions, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { guard, type OrphanGrace } from "./guardian.ts";
import { killTree, killWholeTree, newMark, type ProcessTree, signalGroup, TREE } from "./process-tree.ts";
import { beforeEnd } from "./before-end.ts";

/** Time after the end of a process in which its output is read: a process that it started can hold the pipes open. */
const OUTPUT_MS = 500;

/** Command of a process, or a module that runs as one and has a channel for messages. */
export type ChildCommand =
  | { readonly command: string; readonly args?: readonly string[] }
  | { readonly module: string; readonly args?: readonly string[]; readonly serialization?: "json" | "advanced" };

/** Options of {@link startChild}. */
export type ChildOptions = ChildCommand & {
  readonly cwd?: string | undefined;
  /** All variables of the process. Default: those of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Options of Node, for a module. */
  readonly execArgv?: readonly string[];
  /** A pipe as its input, which ends with this process at the latest. */
  readonly hasInput?: boolean;
  /** For the end after that of this process, where this was killed. Default: SIGKILL at once. */
  readonly orphanGrace?: OrphanGrace;
};

/** End of a process. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Reason why it could not be started. */
  readonly error?: Error;
}

/** Times of an orderly end in milliseconds, each after the one before. */
export interface Grace {
  /** From the end of its input to SIGTERM. Default 0. */
  readonly inputMs?: number;
  /** From SIGTERM to SIGKILL. Default 0: no SIGTERM. */
  readonly termMs?: number;
}

/** Running process that leads a tree of its own, which ends with it. */
export interface Child {
  readonly process: ChildProcess;
  /** `undefined`: it could not be started. */
  readonly tree: ProcessTree | undefined;
  /** Settles after its end, when its output has been read and nothing of its tree is left. Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** Whether the process itself has ended. */
  readonly hasEnded: boolean;
  /** Ends it and its tree. Settles as `ended` does. */
  stop(grace?: Grace): Promise<ChildEnd>;
  /** Kills it and its tree at once. */
  kill(): void;
}

/**
 * Starts a process in a group of its own: Ctrl-C in a terminal reaches this process alone. It never outlives this process, however that ends. The streams are
 * pipes, except an input that was not asked for.
 */
export function startChild(options: ChildOptions): Child {
  const mark = newMark();
  const child = start(options, mark);
  const tree = child.pid === undefined ? undefined : { pid: child.pid, mark };
  // The end of the process reports whatever breaks a pipe.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => undefined);
  const release = tree === undefined ? (): void => undefined : guard(tree, options.orphanGrace);
  const kill = (): void => {
    if (tree !== undefined) killTree(tree);
  };
  const keep = beforeEnd(kill);
  let isOver = child.pid === undefined;
  const ended = endOf(child).then(async (end) => {
    if (tree !== undefined) await killWholeTree(tree);
    keep();
    release();
    return end;
  });
  child.once("exit", () => {
    isOver = true;
    // Processes that it left could hold its output open.
    if (tree !== undefined) signalGroup(tree, "SIGKILL");
  });
  const stop = async ({ inputMs = 0, termMs = 0 }: Grace = {}): Promise<ChildEnd> => {
    if (isOver || tree === undefined) return ended;
    child.stdin?.end();
    if (!(await within(inputMs, ended)) && termMs > 0) {
      signalGroup(tree, "SIGTERM");
      await within(termMs, ended);
    }
    if (!isOver) signalGroup(tree, "SIGKILL");
    return ended;
  };
  return {
    process: child,
    tree,
    ended,
    stop,
    kill,
    get hasEnded() {
      return isOver;
    },
  };
}

/** Calls a function with each line of the streams of a process. */
export function onLines(
  { process: { stdout, stderr } }: Child,
  receive: (line: string, from: "stdout" | "stderr") => void,
): void {
  const read = (stream: Readable | null, name: "stdout" | "stderr"): void => {
    if (stream !== null) createInterface({ input: stream }).on("line", (line) => receive(line, name));
  };
  read(stdout, "stdout");
  read(stderr, "stderr");
}

/** Describes an end: `ended with code 1`, `ended by SIGKILL`, `could not be started: ...`. */
export function describeEnd({ code, signal, error }: ChildEnd): string {
  if (error !== undefined) return `could not be started: ${error.message}`;
  return signal === null ? `ended with code ${code}` : `ended by ${signal}`;
}

/** Waits for work, but not longer than a time. Returns whether it ended, and leaves no timer. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function start(
  { cwd, env = process.env, hasInput = false, execArgv = [], ...program }: ChildOptions,
  mark: string,
): ChildProcess {
  const common = { cwd, env: { ...env, [TREE]: mark }, detached: process.platform !== "win32", windowsHide: true };
  const stdin = hasInput ? "pipe" : "ignore";
  const args = [...(program.args ?? [])];
  if ("command" in program) return spawn(program.command, args, { ...common, stdio: [stdin, "pipe", "pipe"] });
  const { serialization = "json" } = program;
  const forked: ForkOptions = {
    ...common,
    serialization,
    execArgv: [...execArgv],
    stdio: [stdin, "pipe", "pipe", "ipc"],
  };
  return fork(program.module, args, forked);
}

function endOf(child: ChildProcess): Promise<ChildEnd> {
  return new Promise((resolve) => {
    let late: NodeJS.Timeout | undefined;
    child.once("error", (error) => child.pid === undefined && resolve({ code: null, signal: null, error }));
    child.once("exit", () => {
      late = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, OUTPUT_MS);
    });
    child.once("close", (code, signal) => {
      clearTimeout(late);
      resolve({ code, signal });
    });
  });
}
