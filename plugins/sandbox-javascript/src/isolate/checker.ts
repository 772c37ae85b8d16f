// Runs inside an isolate: the text of this function is what goes there, so it uses nothing of this module.
import type { Inspector } from "./inspector.ts";
import type { DescribedError } from "./errors.ts";
import type { Link } from "./link.ts";
import type { Timers } from "./timers.ts";

/** What became of one test, as text. */
export interface Tested {
  readonly verdict: "passed" | "failed";
  readonly message?: string;
  readonly error?: DescribedError;
}

/** What the host calls in the isolate of the tests. */
export interface CheckerApi {
  /** Defines the entry points as global functions. */
  define(names: string): void;
  /** Runs one of these tests. `verdict` has what came of it. */
  start(index: number, tests: readonly (() => Promise<void>)[]): void;
  /** Of the test that was started; "" while it waits for something. */
  verdict(): string;
  /** The submission calls a function that the tests have given it. */
  serve(handle: string, argsText: string): string;
  tick(): string;
  settle(text: string): void;
}

/** The last call into the submission, for messages. */
export interface CallRecord {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly returned?: unknown;
}

export function makeChecker(parts: {
  readonly inspector: Inspector;
  readonly link: Link;
  readonly timers: Timers;
  /** What the submission threw, by the error that it became here. */
  readonly thrown: WeakMap<object, DescribedError>;
  readonly takeUncaught: () => string | undefined;
}): CheckerApi {
  const { inspector, link, timers, thrown, takeUncaught } = parts;
  const MAX_SHOWN = 200;
  /** Of a message: what the submission says of its errors is as long as it likes. */
  const MAX_TEXT = 10_000;
  let started = 0;
  let tested: Tested | undefined;
  let lastCall: CallRecord | undefined;

  const show = (value: unknown): string => {
    const text = inspector.inspect(value);
    return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
  };

  /** Each part as long as an honest submission would make it. */
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

  /** An assertion that failed is told with the call before it: that is what it was about. */
  function failed(error: unknown): Tested {
    const from = typeof error === "object" && error !== null ? thrown.get(error) : undefined;
    const said = (error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${show(error)}`).slice(
      0,
      MAX_TEXT,
    );
    if (from !== undefined) return { verdict: "failed", message: said, error: shortened(from) };
    const call =
      lastCall === undefined || !("returned" in lastCall)
        ? ""
        : `; ${lastCall.name}(${lastCall.args.map(show).join(", ")}) returned ${show(lastCall.returned)}`;
    return { verdict: "failed", message: said + call };
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
      // A test that was given up may still end, when another has begun.
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
