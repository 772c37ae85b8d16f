import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { MrlmError } from "@mrlm/spec";
import { fromErrorRecord } from "@mrlm/store";
import type { Reads } from "./reader/reads.ts";
import type { ReadAnswer, ReadRequest } from "./reader/read-messages.ts";

/** Longest time of a read, in milliseconds. SQLite cannot be interrupted, so its process is ended. */
const READ_MS = 30_000;
/** Reads that may wait for the one under way. */
const MAX_WAITING = 2_000;

interface PendingRead {
  readonly request: ReadRequest;
  readonly settle: PromiseWithResolvers<unknown>;
}

/** Reads runs in a process of its own, one read after the other. */
export class RunReader {
  #process: ChildProcess | undefined;
  readonly #waiting: PendingRead[] = [];
  #current: (PendingRead & { readonly timer: NodeJS.Timeout }) | undefined;
  #last = 0;
  #isClosed = false;

  /** Reads. Rejects as the function does; with QUERY_LIMIT if it takes longer than 30 s, with RESOURCE_EXHAUSTED if 2,000 others wait. */
  async read<N extends keyof Reads>(name: N, ...args: Parameters<Reads[N]>): Promise<ReturnType<Reads[N]>> {
    if (this.#isClosed) throw new MrlmError("CANCELLED", "The server has stopped.");
    if (this.#waiting.length >= MAX_WAITING)
      throw new MrlmError("RESOURCE_EXHAUSTED", "Too many requests wait for the store.", { retryDelayMs: 1_000 });
    const settle = Promise.withResolvers<unknown>();
    this.#waiting.push({ request: { id: ++this.#last, name, args }, settle });
    this.#next();
    return settle.promise as Promise<ReturnType<Reads[N]>>;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#fail(new MrlmError("CANCELLED", "The server has stopped."));
    for (const { settle } of this.#waiting.splice(0))
      settle.reject(new MrlmError("CANCELLED", "The server has stopped."));
    this.#process?.kill("SIGKILL");
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const read = this.#waiting.shift();
    if (read === undefined) return;
    const timer = setTimeout(() => this.#end(), READ_MS);
    this.#current = { ...read, timer };
    this.#process ??= this.#start();
    this.#process.send(read.request);
  }

  #start(): ChildProcess {
    const isSource = import.meta.url.endsWith(".ts");
    const file = fileURLToPath(new URL(isSource ? "./reader-process.ts" : "./reader-process.js", import.meta.url));
    const child = fork(file, {
      // Keeps byte arrays as they are.
      serialization: "advanced",
      env: process.env,
      execArgv: isSource ? ["--conditions=mrlm-source", "--disable-warning=ExperimentalWarning"] : [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child.on("message", (answer: ReadAnswer) => {
      const read = this.#take();
      if (answer.error !== undefined) read?.settle.reject(fromErrorRecord(answer.error));
      else read?.settle.resolve(answer.value);
      this.#next();
    });
    const ended = (how: string): void => {
      if (this.#process !== child) return;
      this.#process = undefined;
      this.#fail(
        new MrlmError("STORE_INVALID", `The process that reads runs ended (${how}).`, {
          hint: "A file of the run is damaged. Run mrlm doctor on it.",
        }),
      );
    };
    child.on("error", ({ message }) => ended(message));
    child.on("exit", (code, signal) => ended(signal ?? `exit code ${String(code)}`));
    child.unref();
    child.channel?.unref();
    return child;
  }

  /** Ends a read that takes too long, with its process. */
  #end(): void {
    this.#process?.kill("SIGKILL");
    this.#process = undefined;
    this.#fail(
      new MrlmError("QUERY_LIMIT", `The read took longer than ${READ_MS / 1000} s and was ended.`, {
        hint: "Choose a smaller range of steps, or use mrlm query.",
      }),
    );
  }

  #fail(error: MrlmError): void {
    this.#take()?.settle.reject(error);
    if (!this.#isClosed) this.#next();
  }

  #take(): PendingRead | undefined {
    const read = this.#current;
    clearTimeout(read?.timer);
    this.#current = undefined;
    return read;
  }
}
