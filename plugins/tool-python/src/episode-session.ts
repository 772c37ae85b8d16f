import {
  MrlmError,
  type Sandbox,
  type SandboxSession,
  type ToolCallOptions,
  type ToolResult,
  unqueued,
} from "@mrlm/kit";
import type { SandboxLimits } from "@mrlm/kit/options";
import type { SandboxSessionEnd } from "@mrlm/kit/service";
import { resultOf } from "./result-text.ts";

/** Longest time in which the files of a task are written, which the limits of a call do not concern. */
const WRITE_MS = 10_000;

/** Options of {@link EpisodeSession}. */
export interface EpisodeSessionOptions {
  readonly files: TaskFiles;
  readonly limits: SandboxLimits;
  readonly idleMs: number;
}

/** Python of one episode. Opens a session of the sandbox at the first call, and another one when the last has ended. */
export class EpisodeSession {
  readonly #sandbox: Sandbox;
  readonly #options: EpisodeSessionOptions;
  readonly #closed = new AbortController();
  #session: SandboxSession | undefined;
  /** Reason why the last session ended, until a result has stated it. */
  #lost: SandboxSessionEnd | undefined;
  /** Settles when the last call has ended. */
  #last: Promise<unknown> = Promise.resolve();
  /** Settles when the session that is being opened is open, or has failed. */
  #opening: Promise<unknown> | undefined;
  /** Resolves with false when a session begins to open. */
  #begins = Promise.withResolvers<false>();

  constructor(sandbox: Sandbox, options: EpisodeSessionOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
  }

  /** Runs code after earlier calls have ended. Rejects if the sandbox fails, or has no place for a session in time. */
  run(code: string, options: ToolCallOptions): Promise<ToolResult> {
    const previous = this.#last;
    const run = this.#follow(previous, options).then(() => this.#run(code, options));
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Ends a running call, and gives the place of the session back. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#session?.close();
    await this.#last;
    await this.#session?.close();
  }

  /** Waits for the call before. The time in which that call waits for a place does not count for this one either. */
  async #follow(previous: Promise<unknown>, { queued = unqueued }: ToolCallOptions): Promise<void> {
    const ended = previous.then(() => true);
    for (;;) {
      const opening = this.#opening;
      if (opening !== undefined) await queued(() => opening);
      else if (await Promise.race([ended, this.#begins.promise])) return;
    }
  }

  async #run(code: string, { signal, queued = unqueued }: ToolCallOptions): Promise<ToolResult> {
    const stop = AbortSignal.any([signal, this.#closed.signal]);
    if (stop.aborted) throw new MrlmError("CANCELLED", "The call of python was given up before it began.");
    const session = this.#present() ?? (await queued(() => this.#openNext(stop)));
    const result = await session.evaluate({ code }, { signal: stop });
    const lost = this.#lost;
    this.#lost = undefined;
    // A session that is closed for another caller leaves the result as it is: the next result states the loss.
    const end = session.end === "limit" || session.end === "exited" ? session.end : undefined;
    if (end !== undefined) this.#session = undefined;
    return resultOf(result, { limits: this.#options.limits, lost, end });
  }

  /** Returns the session if it is still open. */
  #present(): SandboxSession | undefined {
    if (this.#session?.end === undefined) return this.#session;
    this.#lost = this.#session.end;
    this.#session = undefined;
    return undefined;
  }

  async #openNext(signal: AbortSignal): Promise<SandboxSession> {
    const opened = this.#open(signal);
    this.#opening = opened.then(
      () => (this.#opening = undefined),
      () => (this.#opening = undefined),
    );
    this.#begins.resolve(false);
    this.#begins = Promise.withResolvers();
    return opened;
  }

  async #open(signal: AbortSignal): Promise<SandboxSession> {
    const { limits, idleMs } = this.#options;
    const { texts, binaries } = splitFiles(this.#options.files);
    try {
      const session = await this.#sandbox.session({ limits, files: texts, idleMs, canYield: true, signal });
      this.#session = session;
      if (Object.keys(binaries).length === 0) return session;
      const times = { wallMs: WRITE_MS, cpuMs: WRITE_MS };
      const { verdict, error } = await session.evaluate({ code: codeThatWrites(binaries), limits: times }, { signal });
      if (verdict === "ok") return session;
      await session.close();
      throw new MrlmError("SANDBOX_FAILED", `The files of the task were not written: ${error?.message ?? verdict}.`);
    } catch (error) {
      if (!MrlmError.hasCode(error, "RESOURCE_EXHAUSTED")) throw error;
      // The message of an unscored step states what to do.
      throw new MrlmError("SANDBOX_FAILED", `${error.message} ${error.hint}`, { cause: error });
    }
  }
}

/** Files of a task by relative path. */
type TaskFiles = Readonly<Record<string, string | Uint8Array>>;

/** Separates files that are text from those that are not UTF-8. A sandbox accepts text only. */
function splitFiles(files: TaskFiles): {
  readonly texts: Readonly<Record<string, string>>;
  readonly binaries: Readonly<Record<string, Uint8Array>>;
} {
  const texts: Record<string, string> = {};
  const binaries: Record<string, Uint8Array> = {};
  for (const [path, content] of Object.entries(files)) {
    const text = typeof content === "string" ? content : textOf(content);
    if (text === undefined) binaries[path] = content as Uint8Array;
    else texts[path] = text;
  }
  return { texts, binaries };
}

/** Returns Python code that writes files and defines no name. */
function codeThatWrites(files: Readonly<Record<string, Uint8Array>>): string {
  const encoded = Object.entries(files).map(([path, bytes]) => [path, Buffer.from(bytes).toString("base64")]);
  return [
    "for _path, _data in __import__('json').loads(" + JSON.stringify(JSON.stringify(encoded)) + "):",
    "    __import__('os').makedirs(__import__('os').path.dirname(_path) or '.', exist_ok=True)",
    "    with open(_path, 'wb') as _file:",
    "        _file.write(__import__('base64').b64decode(_data))",
    "del _path, _data, _file",
  ].join("\n");
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
