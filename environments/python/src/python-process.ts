import { fileURLToPath } from "node:url";
import { type JsonObject, MrlmError } from "@mrlm/kit";
import { parseJson } from "@mrlm/kit/service";
import { Calls, type Channel, type Child, describeEnd, onLines, startChild } from "@mrlm/process";
import { untilAborted } from "./until-aborted.ts";

/** Time for the imports of a process, in milliseconds. */
const LOAD_MS = 300_000;
/** Time without an episode and a call after which a process ends, in milliseconds. */
const IDLE_MS = 30_000;
/** Characters of stderr that an error quotes. */
const QUOTED = 2_000;
const WORKER = fileURLToPath(new URL("../python/worker.py", import.meta.url));
/** Variables of the user that would make Python load other code. */
const REMOVED = ["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONOPTIMIZE", "VIRTUAL_ENV"];

/** Facts of the environment that a process has loaded. */
export interface Facts {
  /** Empty for a set of tasks. */
  readonly agents: readonly string[];
  /** Form of an action; `null`: a text. */
  readonly actions: string | null;
}

/** State of a game after a reset or a step. */
export interface Turn {
  /** Empty at the end. */
  readonly agent: string;
  readonly text: string;
  /** A text where it is no finite number. */
  readonly rewards: Readonly<Record<string, number | boolean | string>>;
  readonly terminated: readonly string[];
  readonly truncated: readonly string[];
}

/** Methods of python/worker.py. */
export interface WorkerMethods {
  load(kind: string, name: string, file: string | null, kwargs: JsonObject): Facts;
  reset(instance: number, seed: number): Turn;
  step(instance: number, text: string): Turn | { readonly unreadable: string };
  /** Rewards of agents that are not on turn, since the turn of each. */
  owed(instance: number): Turn["rewards"];
  close(instance: number): null;
  entry(seed: number, index: number): { readonly question: string; readonly answer: string | null };
  score(seed: number, index: number, answer: string): number | boolean | string;
}

type Result<Name extends keyof WorkerMethods> = ReturnType<WorkerMethods[Name]>;

/** Environment that a process loads, and its limits. */
export interface ProcessPlan {
  readonly executable: string;
  readonly load: Parameters<WorkerMethods["load"]>;
  /** Longest call in milliseconds. */
  readonly stepMs: number;
}

/** Call that was sent. */
interface Sent {
  readonly method: string;
  readonly limitMs: number;
}

/** Loss of a process in which another call was at work, which ended it. The call that it rejects is not the cause, and may be made again. */
export class LostBehindError extends MrlmError {}

/**
 * Python process with environments. It answers calls in their order, so that the first one without an answer is the one at work. Where that takes longer than
 * its limit, the process is killed: the call rejects with BRIDGE_TIMEOUT. When the process ends, the call at work rejects with BRIDGE_LOST, and those behind it
 * with a {@link LostBehindError} of this code.
 */
export class PythonProcess {
  /** Episodes in this process. */
  readonly instances = new Set<number>();
  readonly #child: Child;
  readonly #calls: Calls<WorkerMethods>;
  readonly #sent: Sent[] = [];
  readonly #stderr: string[] = [];
  readonly #closed = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #late: Sent | undefined;
  /** Call at work when the process ended. */
  #last: Sent | undefined;
  #isEnding = false;
  /** Time of the last answer. */
  #lastMs = performance.now();

  private constructor(executable: string) {
    const kept = Object.entries(process.env).filter(([name]) => !REMOVED.includes(name));
    const env = {
      ...Object.fromEntries(kept),
      ...{ PYTHONNOUSERSITE: "1", PYTHONSAFEPATH: "1", PYTHONHASHSEED: "0", PYTHONUTF8: "1", PYTHONUNBUFFERED: "1" },
      // Processes are the unit of parallel work.
      ...{ OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1", MKL_NUM_THREADS: "1" },
      // Environments with a window find no display.
      ...{ SDL_VIDEODRIVER: "dummy", PYGAME_HIDE_SUPPORT_PROMPT: "1" },
    };
    this.#child = startChild({ command: executable, args: [WORKER], env, hasInput: true });
    const { process: child } = this.#child;
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?(): void } | null)?.unref?.();
    child.unref();
    this.#calls = new Calls(this.#channel());
    const unused = setInterval(() => {
      const isUsed = this.instances.size > 0 || this.#sent.length > 0;
      if (!isUsed && performance.now() - this.#lastMs >= IDLE_MS) void this.end();
    }, IDLE_MS).unref();
    void this.#child.ended.then((end) => {
      clearTimeout(this.#timer);
      clearInterval(unused);
      this.#last = this.#sent[0];
      const tail = this.#stderr.join("\n").slice(-QUOTED).trim();
      const why =
        this.#late === undefined
          ? describeEnd(end)
          : `was killed: a call of \`${this.#late.method}\` took longer than ${this.#late.limitMs / 1_000} s`;
      const message = `The Python process ${why}.${tail === "" ? "" : ` The end of its output:\n${tail}`}`;
      this.#closed.abort(
        new MrlmError("BRIDGE_LOST", message, {
          hint: "Episodes in it are unscored; the next one starts a new process. `step_seconds` is the longest call.",
        }),
      );
    });
  }

  /** Starts a process and loads an environment. Rejects with OPTIONS_INVALID, and as {@link call} does. */
  static async start({ executable, load, stepMs }: ProcessPlan): Promise<[PythonProcess, Facts]> {
    const started = new PythonProcess(executable);
    try {
      return [started, await started.call("load", load, { limitMs: Math.max(LOAD_MS, stepMs) })];
    } catch (error) {
      await started.end();
      throw error;
    }
  }

  get hasEnded(): boolean {
    return this.#child.hasEnded || this.#isEnding || this.#late !== undefined;
  }

  /** Calls a method. Rejects with BRIDGE_FAILED and the traceback where it raises, with BRIDGE_LOST, with BRIDGE_TIMEOUT, and with the reason of the signal, without waiting for the answer. */
  async call<Name extends keyof WorkerMethods>(
    method: Name,
    args: Parameters<WorkerMethods[Name]>,
    { limitMs, signal }: { readonly limitMs: number; readonly signal?: AbortSignal },
  ): Promise<Result<Name>> {
    signal?.throwIfAborted();
    return untilAborted(this.#answerOf(method, args, limitMs), signal);
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#child.stop({ inputMs: 200 });
  }

  async #answerOf<Name extends keyof WorkerMethods>(
    method: Name,
    args: Parameters<WorkerMethods[Name]>,
    limitMs: number,
  ): Promise<Result<Name>> {
    const { signal } = this.#closed;
    if (signal.aborted) throw behind(signal.reason as MrlmError);
    const sent: Sent = { method, limitMs };
    this.#sent.push(sent);
    if (this.#sent.length === 1) {
      this.#child.process.ref();
      this.#watch();
    }
    try {
      return (await this.#calls.call(method, args as never)) as Result<Name>;
    } catch (error) {
      if (this.#late === sent) throw new MrlmError("BRIDGE_TIMEOUT", (error as Error).message, { cause: error });
      throw error === signal.reason && this.#last !== sent ? behind(error as MrlmError) : error;
    } finally {
      // Answers come in the order of the calls.
      this.#sent.splice(this.#sent.indexOf(sent), 1);
      if (this.#sent.length === 0) {
        clearTimeout(this.#timer);
        this.#child.process.unref();
        this.#lastMs = performance.now();
      } else this.#watch();
    }
  }

  /** Gives the call at work its time. */
  #watch(): void {
    clearTimeout(this.#timer);
    const [first] = this.#sent;
    if (first === undefined || this.hasEnded) return;
    this.#timer = setTimeout(() => {
      this.#late = first;
      this.#child.kill();
    }, first.limitMs);
  }

  /** Messages as lines of JSON. Those of one turn of the event loop are written at once. */
  #channel(): Channel {
    const listeners = new Set<(body: unknown) => void>();
    const { stdin } = this.#child.process;
    onLines(this.#child, (line, from) => {
      if (from === "stdout") {
        const message = messageIn(line);
        // A process that ends writes half a line. One that runs would answer no more.
        if (message === undefined) this.#child.kill();
        else for (const listener of listeners) listener(message);
      } else {
        this.#stderr.push(line.slice(0, QUOTED));
        if (this.#stderr.length > 40) this.#stderr.shift();
      }
    });
    let isCorked = false;
    return {
      closed: this.#closed.signal,
      send: (body) => {
        if (!isCorked) {
          isCorked = true;
          stdin?.cork();
          process.nextTick(() => {
            isCorked = false;
            stdin?.uncork();
          });
        }
        stdin?.write(`${JSON.stringify(body)}\n`);
      },
      onMessage: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
  }
}

function behind({ code, message, hint }: MrlmError): LostBehindError {
  return new LostBehindError(code, message, { hint });
}

/** Returns the message of a line; `undefined` for one that is no JSON. */
function messageIn(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}
