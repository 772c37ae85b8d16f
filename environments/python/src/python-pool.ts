import { defined, type JsonObject, MrlmError } from "@mrlm/kit";
import { type PythonOptions, TESTED } from "./options.ts";
import { type Facts, LostBehindError, type ProcessPlan, PythonProcess, type WorkerMethods } from "./python-process.ts";
import { interpreterOf } from "./python-set.ts";
import { untilAborted } from "./until-aborted.ts";

/** Processes by what they load: all hosts of this process of mrlm share them. */
const POOLS = new Map<string, PythonPool>();

/** Returns the processes of an environment under one set of options. @param file path of the file that `name` names */
export function poolOf(options: PythonOptions, file: string | undefined, progress: (line: string) => void): PythonPool {
  const { kind, name, kwargs, requirements, python, processes, step_seconds } = options;
  const key = JSON.stringify([kind, name, file, kwargs, requirements, python, processes, step_seconds]);
  let pool = POOLS.get(key);
  if (pool === undefined) POOLS.set(key, (pool = new PythonPool(options, file, progress)));
  return pool;
}

/** Python processes that serve one environment. One that ended is started again by the next call that needs it. */
export class PythonPool {
  readonly #options: PythonOptions;
  readonly #file: string | undefined;
  readonly #progress: (line: string) => void;
  readonly #slots: (Promise<PythonProcess> | undefined)[];
  #facts: Facts | undefined;
  #turn = 0;

  constructor(options: PythonOptions, file: string | undefined, progress: (line: string) => void) {
    this.#options = options;
    this.#file = file;
    this.#progress = progress;
    this.#slots = Array.from({ length: options.processes }, () => undefined);
  }

  /** Longest call in milliseconds. */
  get limitMs(): number {
    return this.#options.step_seconds * 1_000;
  }

  /** Returns the facts of the environment, after a first process has loaded it. Rejects as `PythonProcess.start` does. */
  async facts(): Promise<Facts> {
    if (this.#facts === undefined) await this.process(0);
    return this.#facts as Facts;
  }

  /** Returns a running process: that of a place, or the next one in turn. */
  async process(place: number = this.#turn++): Promise<PythonProcess> {
    const slot = place % this.#slots.length;
    const present = this.#slots[slot];
    if (present !== undefined) {
      const running = await present;
      if (!running.hasEnded) return running;
      // Another call may have replaced it meanwhile.
      if (this.#slots[slot] === present) this.#slots[slot] = undefined;
      return this.process(slot);
    }
    const starting = this.#start(slot);
    this.#slots[slot] = starting;
    return starting;
  }

  /**
   * Calls a method that changes no episode. Calls again in a new process where another call ended the process, as often as that happens: each time one call fewer
   * is before it. Calls once again where the process ended during this call.
   */
  async ask<Name extends "entry" | "score">(
    method: Name,
    args: Parameters<WorkerMethods[Name]>,
    signal?: AbortSignal,
  ): Promise<ReturnType<WorkerMethods[Name]>> {
    for (let attempt = 0; ;)
      try {
        // An entry stays in the memory of one process.
        const process = await untilAborted(this.process(args[1]), signal);
        return await process.call(method, args, { limitMs: this.limitMs, ...defined({ signal }) });
      } catch (error) {
        if (error instanceof LostBehindError) continue;
        if (attempt++ > 0 || !MrlmError.hasCode(error, "BRIDGE_LOST")) throw error;
      }
  }

  async #start(slot: number): Promise<PythonProcess> {
    try {
      const [started, facts] = await PythonProcess.start(await this.#plan());
      this.#facts ??= facts;
      return started;
    } catch (error) {
      this.#slots[slot] = undefined;
      throw error;
    }
  }

  async #plan(): Promise<ProcessPlan> {
    const { kind, name, kwargs, python, requirements = this.#file === undefined ? TESTED[kind] : [] } = this.#options;
    const executable = python ?? (await interpreterOf(requirements, this.#progress));
    return { executable, load: [kind, name, this.#file ?? null, kwargs as JsonObject], stepMs: this.limitMs };
  }
}
