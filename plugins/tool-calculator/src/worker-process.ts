import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";
import { moduleFile } from "@mrlm/process";
import { longestMs, type Outcome, type WorkerLimits, type WorkerMessage } from "./messages.ts";

const { path: entry } = moduleFile(import.meta.url, "./worker");

/** Time for a process, or for the thread that replaces one, to become ready. */
const START_MS = 30_000;

/** Signals and exit code of a process that V8 ends because an allocation failed. */
const ABORTS: ReadonlySet<NodeJS.Signals | number | null> = new Set(["SIGABRT", "SIGTRAP", "SIGILL", "SIGSEGV", 134]);

/** Node's permissions of a worker process: it starts threads and reads files, but writes none and starts no processes. */
const PERMISSIONS = ["--permission", "--allow-worker", "--allow-fs-read=*"];

type State = "starting" | "idle" | "busy" | "ended";

/** Worker process, seen from its parent. It evaluates one expression at a time and does not keep the parent alive while it is idle. */
export class WorkerProcess {
  readonly #limits: WorkerLimits;
  readonly #child: ChildProcess;
  readonly #onIdle: () => void;
  readonly #onEnd: (error: Error | undefined) => void;
  #answer: ((outcome: Outcome) => void) | undefined;
  #state: State = "starting";
  #overdue: NodeJS.Timeout | undefined;
  #isLate = false;
  #isClosed = false;
  #hasStarted = false;

  /**
   * Starts a process.
   * @param onIdle called when the process is ready for an expression
   * @param onEnd called when the process has ended, with an error if it did not start
   */
  constructor(limits: WorkerLimits, onIdle: () => void, onEnd: (error: Error | undefined) => void) {
    this.#limits = limits;
    this.#onIdle = onIdle;
    this.#onEnd = onEnd;
    this.#child = start(limits)
      .on("message", (message: WorkerMessage) => this.#receive(message))
      .on("error", (error) => this.#end(error.message))
      .on("exit", (code, signal) => this.#exit(code, signal));
    this.#setState("starting");
  }

  get isIdle(): boolean {
    return this.#state === "idle";
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Evaluates an expression. Requires `isIdle`. */
  async run(expression: string): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#setState("busy");
    this.#answer = resolve;
    this.#child.send(expression, () => undefined);
    const backstop = setTimeout(() => {
      this.#isLate = true;
      this.close();
    }, longestMs(this.#limits));
    try {
      return await promise;
    } finally {
      clearTimeout(backstop);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#child.kill("SIGKILL");
  }

  #receive(message: WorkerMessage): void {
    if (message.kind === "ready") {
      this.#hasStarted = true;
      this.#setState("idle");
      this.#onIdle();
      return;
    }
    const { outcome, isReady } = message;
    if (this.#state !== "busy") {
      this.#end(outcome.kind === "failed" ? outcome.text : "it did not become ready");
      return;
    }
    this.#setState(isReady ? "idle" : "starting");
    this.#settle(outcome);
    if (isReady) this.#onIdle();
  }

  #exit(code: number | null, signal: NodeJS.Signals | null): void {
    const ending = signal === null ? `code ${code}` : `signal ${signal}`;
    if (this.#isLate) this.#settle({ kind: "timeout" });
    else if (ABORTS.has(signal ?? code)) this.#settle({ kind: "memory" });
    else this.#settle({ kind: "failed", text: `its process ended with ${ending}` });
    this.#end(!this.#hasStarted && !this.#isClosed ? `its process ended with ${ending}` : undefined);
  }

  #settle(outcome: Outcome): void {
    this.#answer?.(outcome);
    this.#answer = undefined;
  }

  #end(reason: string | undefined): void {
    if (this.#state === "ended") return;
    this.#setState("ended");
    this.close();
    this.#settle({ kind: "failed", text: reason ?? "its process ended" });
    this.#onEnd(reason === undefined ? undefined : new Error(reason));
  }

  /** An idle process holds neither the event loop of its parent nor the pipe to it. */
  #setState(state: State): void {
    this.#state = state;
    clearTimeout(this.#overdue);
    if (state === "starting") {
      this.#overdue = setTimeout(() => this.#end(`it was not ready after ${START_MS / 1_000} s`), START_MS);
    }
    const method = state === "starting" || state === "busy" ? "ref" : "unref";
    this.#child[method]();
    this.#child.channel?.[method]();
  }
}

/** Starts the process, on POSIX without core dumps: it aborts when an allocation fails. */
function start(limits: WorkerLimits): ChildProcess {
  const command = [process.execPath, "--no-warnings", ...PERMISSIONS, entry, JSON.stringify(limits)];
  const [file = "", ...args] =
    process.platform === "win32" ? command : ["/bin/sh", "-c", 'ulimit -c 0; exec "$0" "$@"', ...command];
  return spawn(file, args, { cwd: dirname(entry), env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] });
}
