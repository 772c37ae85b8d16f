// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { Inspector } from "./inspector.ts";
import type { DescribedError } from "./errors.ts";
import type { Link } from "./link.ts";
import type { Timers } from "./timers.ts";

/** Result of one test, as text. */
export interface Tested {
  readonly verdict: "passed" | "failed";
  readonly message?: string;
  readonly error?: DescribedError;
}

/** Functions that the parent calls in the isolate of the tests. */
export interface CheckerApi {
  /** Defines the entry points as global functions. */
  define(names: string): void;
  /** Starts one of these tests; `verdict` returns its result. */
  start(index: number, tests: readonly (() => Promise<void>)[]): void;
  /** Returns the result of the started test; "" while it waits. */
  verdict(): string;
  /** Serves a call by the submission of a function that the tests passed to it. */
  serve(handle: string, argsText: string): string;
  tick(): string;
  settle(text: string): void;
}

/** Last call of the submission, for messages. */
export interface CallRecord {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly returned?: unknown;
}

export function makeChecker(parts: {
  readonly inspector: Inspector;
  readonly link: Link;
  readonly timers: Timers;
  /** Errors of the submission, by the errors made from them here. */
  readonly thrown: WeakMap<object, DescribedError>;
  readonly takeUncaught: () => string | undefined;
}): CheckerApi {
  const { inspector, link, timers, thrown, takeUncaught } = parts;
  const MAX_SHOWN = 200;
  /** Maximum characters of a message: the submission controls the length of its errors. */
  const MAX_TEXT = 10_000;
  let started = 0;
  let tested: Tested | undefined;
  let lastCall: CallRecord | undefined;

  const show = (value: unknown): string => {
    const text = inspector.inspect(value);
    return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
  };

  /** Cuts the parts to the lengths that an unmodified submission would return. */
  function shortened({ name, message, trace, line }: DescribedError): DescribedError {
    const short = (text: unknown): string => (typeof text === "string" ? text.slice(0, MAX_TEXT) : "");
    return {
      name: short(name),
      message: short(message),
      trace: short(trace),
      ...(typeof line === "number" ? { line } : {}),
    };
  }

  function recorded(name: string): (...args: unknown[]) => unknown {
    const call = link.proxy(`.${name}`);
    return (...args) => {
      lastCall = { name, args };
      const returned = call(...args);
      lastCall = { name, args, returned };
      return returned;
    };
  }

  /** Describes a failed test. A failed assertion gets the call before it, which it is probably about. */
  function failed(error: unknown): Tested {
    const from = typeof error === "object" && error !== null ? thrown.get(error) : undefined;
    const message = (error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${show(error)}`).slice(
      0,
      MAX_TEXT,
    );
    if (from !== undefined) return { verdict: "failed", message, error: shortened(from) };
    const call =
      lastCall === undefined || !("returned" in lastCall)
        ? ""
        : `; ${lastCall.name}(${lastCall.args.map(show).join(", ")}) returned ${show(lastCall.returned)}`;
    return { verdict: "failed", message: message + call };
  }

  return {
    define(names) {
      for (const name of JSON.parse(names) as string[]) {
        Object.defineProperty(globalThis, name, {
          value: recorded(name),
          configurable: true,
          enumerable: false,
          writable: true,
        });
      }
    },
    start(index, tests) {
      tested = undefined;
      lastCall = undefined;
      // An abandoned test may still end after the next one has started.
      const mine = ++started;
      const test = tests[index] as () => Promise<void>;
      test().then(
        () => void (mine === started && (tested = { verdict: "passed" })),
        (error: unknown) => void (mine === started && (tested = failed(error))),
      );
    },
    verdict: () => (tested === undefined ? "" : JSON.stringify(tested)),
    serve: (handle, argsText) => {
      const target = link.functionAt(handle);
      return target === undefined
        ? '{"threw":{"name":"TypeError","message":"There is no such function.","trace":""}}'
        : link.serve(target, argsText);
    },
    tick() {
      const { ran, nextMs } = timers.tick();
      return JSON.stringify({ ran, nextMs, settled: link.takeSettled(), uncaught: takeUncaught() });
    },
    settle: (text) => link.settle(text),
  };
}
