import type ivm from "isolated-vm";
import type { Turn } from "./turn.ts";
import { START } from "./snapshot.ts";

/** What a tick of an isolate's timers says. */
export interface Tick {
  /** A callback has run: what waits for it may go on now. */
  readonly ran: boolean;
  /** Milliseconds until the next timer is due; -1: none. */
  readonly nextMs: number;
  /** Promises that the other isolate waits for. */
  readonly settled: readonly string[];
  /** Description of an error that a timer's callback threw. */
  readonly uncaught?: string;
  /** The submission's top-level code has come to its end. */
  readonly isBound?: boolean;
}

/** Characters of an answer: a value of 8 MB, with how it is shown. An honest isolate says no more. */
const LONGEST = 24 * 1024 * 1024;

type IsolateFunction = ivm.Reference<(...args: unknown[]) => unknown>;

/** A context of an isolate and our functions in it. Only text and numbers go in and out. */
export class Compartment {
  readonly context: ivm.Context;
  readonly #isolate: ivm.Isolate;
  readonly #turn: Turn;
  readonly #api: ivm.Reference<Record<string, unknown>>;
  readonly #functions = new Map<string, IsolateFunction>();

  /** `args` go to the function of the snapshot that begins; it answers with the object of our functions. */
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
    return this.read("tick", isTick);
  }

  /**
   * What one of our functions answers, as JSON; `undefined` for "". A submission can change what our functions in its isolate stand on, so an answer
   * of another form is its doing: it has broken its interpreter.
   */
  read<Value>(name: string, isValid: (value: unknown) => value is Value, ...args: readonly unknown[]): Value {
    const text = this.call<unknown>(name, ...args);
    const value = typeof text === "string" && text.length > LONGEST ? null : parsed(text);
    if (!isValid(value)) throw this.#turn.lifetime.end({ verdict: "killed" });
    return value;
  }

  /** Runs something in the isolate for as long as there is time. Throws Ended, or what became of a rejected promise that nobody handles. */
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
