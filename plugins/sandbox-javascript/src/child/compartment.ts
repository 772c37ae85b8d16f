import type ivm from "isolated-vm";
import type { Turn } from "./turn.ts";
import { START } from "./snapshot.ts";

/** Result of a tick of an isolate's timers. */
export interface Tick {
  /** Whether a callback has run, so that waiting code may continue. */
  readonly ran: boolean;
  /** Milliseconds until the next timer is due; -1 without one. */
  readonly nextMs: number;
  /** Settled promises for which the other isolate waits, as text. */
  readonly settled: readonly string[];
  /** Description of an error that a timer's callback threw. */
  readonly uncaught?: string;
  /** Whether the submission's top-level code has ended. */
  readonly isBound?: boolean;
}

/** Maximum characters of an answer. Unmodified code in an isolate returns no more. */
const LONGEST = 8 * 1024 * 1024;
/** Maximum characters of a tick, which may have the values of several promises. */
const LONGEST_TICK = 24 * 1024 * 1024;

type IsolateFunction = ivm.Reference<(...args: unknown[]) => unknown>;

/** Context of an isolate with our functions. Only text and numbers enter and leave it. */
export class Compartment {
  readonly context: ivm.Context;
  readonly #isolate: ivm.Isolate;
  readonly #turn: Turn;
  readonly #api: ivm.Reference<Record<string, unknown>>;
  readonly #functions = new Map<string, IsolateFunction>();

  /** `args` are the arguments of the snapshot's start function, which returns the object of our functions. */
  constructor(isolate: ivm.Isolate, args: readonly unknown[], turn: Turn) {
    this.#isolate = isolate;
    this.#turn = turn;
    this.context = isolate.createContextSync();
    const begin = this.context.global.getSync(START, { reference: true }) as ivm.Reference<
      (...args: unknown[]) => Record<string, unknown>
    >;
    this.#api = this.enter((timeout) =>
      begin.applySync(undefined, args as never[], { timeout, result: { reference: true } }),
    ) as ivm.Reference<Record<string, unknown>>;
    begin.release();
  }

  /** Calls one of our functions. */
  call<Result>(name: string, ...args: readonly unknown[]): Result {
    let found = this.#functions.get(name);
    if (found === undefined) {
      found = this.#api.getSync(name, { reference: true }) as IsolateFunction;
      this.#functions.set(name, found);
    }
    const target = found;
    return this.enter((timeout) => target.applySync(this.#api.derefInto(), args as never[], { timeout })) as Result;
  }

  tick(): Tick {
    return this.#parse(this.call("tick"), isTick, LONGEST_TICK);
  }

  /**
   * Calls one of our functions and parses its JSON; `undefined` for "". A submission can change the built-in objects that our functions in its
   * isolate use, so a malformed answer means that the submission broke its interpreter.
   */
  read<Value>(name: string, isValid: (value: unknown) => value is Value, ...args: readonly unknown[]): Value {
    return this.#parse(this.call(name, ...args), isValid, LONGEST);
  }

  /** Runs a function in the isolate until the deadline. Throws Ended, or the error of a rejected promise without a handler. */
  enter<Result>(run: (timeoutMs: number) => Result): Result {
    const { lifetime } = this.#turn;
    if (lifetime.ended !== undefined) throw lifetime.ended;
    if (lifetime.isOver) throw lifetime.end({ verdict: "timeout" });
    try {
      return run(lifetime.timerMs());
    } catch (error) {
      if (lifetime.ended !== undefined) throw lifetime.ended;
      if (this.#isolate.isDisposed) throw lifetime.end({ verdict: "memory-limit", spent: true });
      if (lifetime.isOver) throw lifetime.end({ verdict: "timeout" });
      throw error;
    }
  }

  /** Refuses a text that is too long before it is copied: the copies are outside the limit of the isolate. */
  #parse<Value>(text: unknown, isValid: (value: unknown) => value is Value, longest: number): Value {
    const value = typeof text === "string" && text.length > longest ? null : parsed(text);
    if (!isValid(value)) throw this.#turn.lifetime.end({ verdict: "killed" });
    return value;
  }

  release(): void {
    if (this.#isolate.isDisposed) return;
    for (const found of this.#functions.values()) found.release();
    this.#api?.release();
    this.context.release();
  }
}

function parsed(text: unknown): unknown {
  try {
    return text === "" ? undefined : JSON.parse(String(text));
  } catch {
    return null;
  }
}

function isTick(value: unknown): value is Tick {
  if (typeof value !== "object" || value === null) return false;
  const { ran, nextMs, settled, uncaught, isBound } = value as Record<string, unknown>;
  const isText = (item: unknown): boolean => typeof item === "string";
  return (
    typeof ran === "boolean" &&
    typeof nextMs === "number" &&
    Array.isArray(settled) &&
    settled.every(isText) &&
    (uncaught === undefined || isText(uncaught)) &&
    (isBound === undefined || typeof isBound === "boolean")
  );
}
