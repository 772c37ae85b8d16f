import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { MrlmError } from "@mrlm/spec";
import type { Row } from "@mrlm/store/provider";
import type { PostgresSettings } from "./client.ts";
import { PostgresError } from "./fault.ts";
import type { PostgresOpening, PostgresReply, PostgresRequest, PostgresThreadData } from "./thread.ts";

/** Longest wait for the thread of a connection, which has shorter limits of its own, in milliseconds. */
const THREAD_MS = 600_000;
/** Threads that are kept without a connection: a start takes 100 ms of CPU, and a viewer opens a store for each read. */
const MAX_IDLE = 4;

/** Calls of a thread that holds a connection; each call waits for its answer. */
export class PostgresCaller {
  static readonly #idle: PostgresCaller[] = [];
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));

  private constructor() {
    const isSource = import.meta.url.endsWith(".ts");
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = new Worker(new URL(isSource ? "./thread.ts" : "./thread.js", import.meta.url), {
      workerData: { port: port2, signal: this.#signal } satisfies PostgresThreadData,
      transferList: [port2],
      name: "mrlm-postgres",
      env: process.env,
      execArgv: isSource ? ["--conditions=mrlm-source", "--disable-warning=ExperimentalWarning"] : [],
    });
    this.#worker.unref();
    this.#port.unref();
  }

  /** Takes a thread that is idle, or starts one. It connects at the first call. */
  static open(settings: PostgresSettings): PostgresCaller {
    const caller = PostgresCaller.#idle.pop() ?? new PostgresCaller();
    caller.#port.postMessage({ settings } satisfies PostgresOpening);
    return caller;
  }

  /** Calls a listener after each notification of the server. */
  onChange(listener: () => void): void {
    this.#worker.on("message", listener);
    this.#worker.unref();
  }

  /** Throws PostgresError where a statement fails. */
  call(request: PostgresRequest): PostgresReply & { readonly rows: Row[] } {
    Atomics.store(this.#signal, 0, 0);
    this.#port.postMessage(request);
    if (Atomics.wait(this.#signal, 0, 0, THREAD_MS) === "timed-out")
      throw new MrlmError("INTERNAL", "The thread of a connection to Postgres does not answer.");
    const reply = receiveMessageOnPort(this.#port)?.message as PostgresReply & { readonly rows: Row[] };
    if (reply.error !== undefined) throw new PostgresError(reply.error);
    return reply;
  }

  /** Ends the connection, and keeps the thread for the next one. */
  close(): void {
    this.call({ statements: "close", connects: false });
    this.#worker.removeAllListeners("message");
    if (PostgresCaller.#idle.length < MAX_IDLE) PostgresCaller.#idle.push(this);
    else {
      void this.#worker.terminate();
      this.#port.close();
    }
  }
}
