import { type Child, type ChildEnd, moduleFile, startChild, temporaryFolder } from "@mrlm/process";
import { type JsonValue, MrlmError } from "@mrlm/spec";
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
  {
    signal,
    env,
    cwd,
  }: { readonly signal?: AbortSignal | undefined; readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): AsyncGenerator<Message, ProcessEnd> {
  const assertNotStopped = (): void => {
    if (signal?.aborted === true) throw new MrlmError("CANCELLED", "The check was stopped.");
  };
  assertNotStopped();
  const { path, execArgv } = moduleFile(import.meta.url, `../${worker}`);
  const temporary = temporaryFolder("plugin");
  const directories = { TMPDIR: temporary.path, TMP: temporary.path, TEMP: temporary.path };
  const child = startChild({
    module: path,
    env: { ...process.env, ...env, ...directories },
    cwd,
    execArgv: ["--enable-source-maps", ...execArgv],
  });
  const stop = (): void => child.kill();
  const queue = new MessageQueue<Message>(child, START_MS);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    child.process.send(request as JsonValue & object, () => undefined);
    for (;;) {
      const next = await queue.next();
      assertNotStopped();
      if ("end" in next) return next.end;
      yield next.message;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
    // It could still write files.
    await child.ended;
    temporary.remove();
  }
}

/** Messages of a process in the order in which they came, then its end. */
class MessageQueue<Message extends WorkerMessage> {
  readonly #messages: Message[] = [];
  readonly #child: Child;
  #end: ProcessEnd | undefined;
  #isDone = false;
  #isLate = false;
  #printed: Printed = { bytes: 0, head: "" };
  #timer: NodeJS.Timeout | undefined;
  #wake: () => void = () => undefined;

  constructor(child: Child, startMs: number) {
    this.#child = child;
    const { process } = child;
    process.on("message", (value) => this.#receive(value as unknown as Message));
    for (const stream of [process.stdout, process.stderr])
      stream?.on("data", (chunk: Buffer) => (this.#printed = addPrinted(this.#printed, chunk)));
    void child.ended.then((end) => this.#finish(end));
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
      this.#child.kill();
    }, withinMs);
  }

  #finish({ code: exitCode, signal }: ChildEnd): void {
    clearTimeout(this.#timer);
    const kind = this.#isDone ? "done" : this.#isLate ? "silent" : "exited";
    this.#end ??= { kind, exitCode, signal, printed: this.#printed };
    this.#wake();
  }
}
