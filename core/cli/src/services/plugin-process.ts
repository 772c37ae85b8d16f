import { type ChildProcess, fork, type ForkOptions } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type JsonValue, MrlmError } from "@mrlm/spec";
import { beforeEndBySignal } from "./end-by-signal.ts";
import { endProcesses } from "./end-processes.ts";
import { addPrinted, type Printed } from "./printed-output.ts";

/** Message of a worker that runs code of plugins. */
export interface WorkerMessage {
  readonly event: string;
  /** Time within which the next message follows, in milliseconds. A worker that blocks its event loop cannot keep it. */
  readonly nextMs?: number;
}

/** End of a process that ran code of plugins. */
export interface ProcessEnd {
  /** `done`: its work ended; `exited`: the code ended the process; `silent`: no message came in time, and it was killed. */
  readonly kind: "done" | "exited" | "silent";
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Output of the plugin on stdout and stderr. */
  readonly printed: Printed;
}

const START_MS = 30_000;

/**
 * Runs a worker module of this package in a process of its own, which survives nothing that a plugin does: the caller does. Yields its messages and returns
 * how it ended. Its output is counted and not kept. The process ends with the iteration, whatever happens, and its temporary files are removed.
 * @param worker name of the module, without extension
 */
export async function* pluginProcess<Message extends WorkerMessage>(
  worker: "check-worker" | "inspect-worker" | "play-worker",
  request: JsonValue,
  { signal, env, cwd }: { readonly signal?: AbortSignal | undefined } & Pick<ForkOptions, "cwd" | "env"> = {},
): AsyncGenerator<Message, ProcessEnd> {
  const assertNotStopped = (): void => {
    if (signal?.aborted === true) throw new MrlmError("CANCELLED", "The check was stopped.");
  };
  assertNotStopped();
  const isSource = import.meta.url.endsWith(".ts");
  const file = isSource ? `../${worker}.ts` : `./${worker}.js`;
  const temporary = mkdtempSync(join(tmpdir(), "mrlm-plugin-"));
  // In a group of its own, so that what it starts ends with it.
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [String(process.pid), temporary], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    serialization: "json",
    env: { ...process.env, ...env, TMPDIR: temporary, TMP: temporary, TEMP: temporary },
    ...(cwd !== undefined && { cwd }),
    detached: process.platform !== "win32",
    execArgv: ["--enable-source-maps", ...(isSource ? ["--conditions=mrlm-source"] : [])],
  });
  const stop = (): void => {
    if (child.pid !== undefined) endProcesses(child.pid, temporary);
  };
  const queue = new MessageQueue<Message>(child, stop, START_MS);
  const remove = (): void => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  const onExit = (): void => {
    stop();
    remove();
  };
  process.once("exit", onExit);
  const offSignals = beforeEndBySignal(onExit);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    child.send(request as JsonValue & object, () => undefined);
    for (;;) {
      const next = await queue.next();
      assertNotStopped();
      if ("end" in next) return next.end;
      yield next.message;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    const ended = Promise.withResolvers<void>();
    if (hasEnded(child)) ended.resolve();
    else child.once("exit", () => ended.resolve());
    stop();
    // It could still write files.
    await ended.promise;
    process.off("exit", onExit);
    offSignals();
    remove();
  }
}

/** Messages of a process in the order in which they came, then its end. */
class MessageQueue<Message extends WorkerMessage> {
  readonly #messages: Message[] = [];
  readonly #stop: () => void;
  #end: ProcessEnd | undefined;
  #isDone = false;
  #isLate = false;
  #printed: Printed = { bytes: 0, head: "" };
  #timer: NodeJS.Timeout | undefined;
  #wake: () => void = () => undefined;

  constructor(child: ChildProcess, stop: () => void, startMs: number) {
    this.#stop = stop;
    child.on("message", (value) => this.#receive(value as unknown as Message));
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => (this.#printed = addPrinted(this.#printed, chunk)));
    child.on("error", () => this.#finish(null, null));
    child.on("close", (exitCode, signal) => this.#finish(exitCode, signal));
    // A process that it started can hold the pipes open after its end.
    child.on("exit", (exitCode, signal) => setTimeout(() => this.#finish(exitCode, signal), 500).unref());
    this.#expect(startMs);
  }

  async next(): Promise<{ readonly message: Message } | { readonly end: ProcessEnd }> {
    while (this.#messages.length === 0 && this.#end === undefined)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    const message = this.#messages.shift();
    return message === undefined ? { end: this.#end as ProcessEnd } : { message };
  }

  #receive(message: Message): void {
    if (message.event === "done") {
      this.#isDone = true;
      this.#expect(2_000);
    } else {
      this.#messages.push(message);
      if (message.nextMs !== undefined) this.#expect(message.nextMs);
    }
    this.#wake();
  }

  #expect(withinMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isLate = !this.#isDone;
      this.#stop();
    }, withinMs);
  }

  #finish(exitCode: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(this.#timer);
    const kind = this.#isDone ? "done" : this.#isLate ? "silent" : "exited";
    this.#end ??= { kind, exitCode, signal, printed: this.#printed };
    this.#wake();
  }
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
