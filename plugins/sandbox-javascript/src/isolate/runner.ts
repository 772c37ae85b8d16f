// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { Inspector } from "./inspector.ts";
import type { DescribedError } from "./errors.ts";
import type { Link } from "./link.ts";
import type { Program } from "./program.ts";
import type { Timers } from "./timers.ts";

/** Functions that the parent calls in the submission's isolate. All arguments and results are text and numbers. */
export interface RunnerApi {
  /** Runs the submission's top-level code, which returns the values of `names`. Returns the description of an error, or "". */
  load(main: (...args: unknown[]) => unknown, names: string): string;
  /** Gives a module `$bind`, which it calls last, with the values of `names`. */
  expectModule(names: string): void;
  /** Returns the names that a built-in module exports, as JSON; "" if there is no such module. */
  exportNames(name: string): string;
  /** Calls a function of the submission with arguments from JSON; `result` returns the outcome. */
  start(name: string, argsJson: string): void;
  /** Keeps the value of an evaluation for `result`. */
  hold(value: unknown): void;
  /** Returns the value or error of the started call, or of the kept value, as text; "" while its promise is pending. */
  result(maxCharacters: number): string;
  /** Serves a call by the other isolate: of an entry point, `.name`, or of a function by its handle. */
  serve(target: string, argsText: string): string;
  /** Returns the texts of the files that the program was asked for, by path, as JSON. */
  fetched(): string;
  tick(): string;
  settle(text: string): void;
}

/** Makes the functions in the submission's isolate, before the submission runs. The other side trusts none of them. */
export function makeRunner(parts: {
  readonly describe: (error: unknown) => DescribedError;
  readonly inspector: Inspector;
  readonly link: Link;
  readonly program: Program;
  readonly timers: Timers;
  readonly takeUncaught: () => string | undefined;
}): RunnerApi {
  const { describe, inspector, link, program, timers, takeUncaught } = parts;
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { isArray } = Array;
  const { defineProperty, getPrototypeOf, keys } = Object;
  const ObjectPrototype = Object.prototype;
  const PromiseClass = Promise;
  const then = Promise.prototype.then;
  const toText = String;
  const slice = String.prototype.slice;
  /** Maximum depth of a value; a deeper one is only shown. */
  const MAX_DEPTH = 100;
  const MAX_TEXT = 8 * 1024 * 1024;
  const MAX_SHOWN = 1024 * 1024;
  const global = globalThis as Record<string, unknown>;
  let outcome: { readonly value: unknown } | { readonly threw: DescribedError } | undefined;
  let isBound = false;
  const bound: Record<string, unknown> = { __proto__: null };

  function find(name: string): (...args: never[]) => unknown {
    const { exports } = program.module as { exports: Record<string, unknown> };
    const candidates = [bound[name], isObject(exports) ? exports[name] : undefined, global[name], exports];
    for (let i = 0; i < candidates.length; i++) if (typeof candidates[i] === "function") return candidates[i] as never;
    throw new ReferenceError(`${name} is not defined as a function`);
  }

  function isObject(value: unknown): boolean {
    return (typeof value === "object" && value !== null) || typeof value === "function";
  }

  /** Whether JSON has an exact form of the value. */
  function isPlain(value: unknown, depth: number): boolean {
    if (value === null || typeof value === "string" || typeof value === "boolean") return true;
    if (typeof value === "number") return value - value === 0;
    if (typeof value !== "object" || depth >= MAX_DEPTH) return false;
    if (isArray(value)) {
      for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth + 1)) return false;
      return true;
    }
    const prototype = getPrototypeOf(value) as unknown;
    if ((prototype !== ObjectPrototype && prototype !== null) || "toJSON" in value) return false;
    for (const key of keys(value)) if (!isPlain((value as Record<string, unknown>)[key], depth + 1)) return false;
    return true;
  }

  function described(value: unknown, maxCharacters: number): string {
    const shown = toText(inspector.inspect(value)).slice(0, maxCharacters < MAX_SHOWN ? maxCharacters : MAX_SHOWN);
    const text = isPlain(value, 0) ? stringify({ value, shown }) : "";
    return text === "" || text.length > MAX_TEXT ? stringify({ shown }) : text;
  }

  function bind(names: string, values: unknown): void {
    const list = parse(names) as string[];
    for (let i = 0; i < list.length; i++)
      bound[list[i] as string] = isArray(values) ? (values as unknown[])[i] : undefined;
    isBound = true;
  }

  return {
    load(main, names) {
      try {
        const { module, require } = program;
        bind(names, apply(main, module.exports, [module.exports, require, module, program.file(), "."]) as unknown[]);
        return "";
      } catch (error) {
        return stringify(describe(error));
      }
    },
    expectModule(names) {
      const value = (values: unknown[]): void => {
        delete global["$bind"];
        bind(names, values);
      };
      defineProperty(global, "$bind", { value, configurable: true });
    },
    exportNames(name) {
      const builtin = program.builtin(name);
      return builtin === undefined ? "" : stringify(keys(builtin));
    },
    start(name, argsJson) {
      try {
        this.hold(apply(find(name), undefined, parse(argsJson) as never[]));
      } catch (error) {
        outcome = { threw: describe(error) };
      }
    },
    hold(value) {
      outcome = value instanceof PromiseClass ? undefined : { value };
      if (outcome !== undefined) return;
      void apply(then, value as Promise<unknown>, [
        (result: unknown) => (outcome = { value: result }),
        (error: unknown) => (outcome = { threw: describe(error) }),
      ]);
    },
    result(maxCharacters) {
      if (outcome === undefined) return "";
      return "threw" in outcome ? stringify(outcome) : described(outcome.value, maxCharacters);
    },
    serve(target, argsText) {
      return link.serve(
        (...args) =>
          apply(
            target[0] === "." ? find(apply(slice, target, [1]) as string) : (link.functionAt(target) as never),
            undefined,
            args,
          ),
        argsText,
      );
    },
    fetched: () => program.fetched(),
    tick() {
      const { ran, nextMs } = timers.tick();
      return stringify({ ran, nextMs, settled: link.takeSettled(), uncaught: takeUncaught(), isBound });
    },
    settle: (text) => link.settle(text),
  };
}
