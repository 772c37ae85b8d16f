// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { Decode } from "./decode.ts";
import type { Encode, Handles } from "./encode.ts";
import type { DescribedError } from "./errors.ts";
import type { Update } from "./update.ts";

/** Calls a function of the other isolate: an entry point by name, or any function by its handle. */
export type CallOther = (target: string, argsText: string) => string;

export interface LinkParts {
  /** First letter of the handles of this side. */
  readonly letter: "s" | "t";
  readonly encode: Encode;
  readonly decode: Decode;
  readonly update: Update;
  readonly callOther: CallOther;
  readonly describe: (error: unknown) => DescribedError;
  /** Called when `error` was made from an error of the other side. */
  readonly onThrown: (error: object, from: DescribedError) => void;
}

export interface Link {
  /** Returns a function that calls a function of the other side. */
  proxy(target: string): (...args: unknown[]) => unknown;
  /** Serves a call by the other side. Returns the outcome as text. */
  serve(target: (...args: never[]) => unknown, argsText: string): string;
  /** Returns a function of this side by its handle. */
  functionAt(handle: string): ((...args: never[]) => unknown) | undefined;
  /** Returns the promises of this side that settled since the last call, as text for `settle` of the other side. */
  takeSettled(): string[];
  settle(text: string): void;
}

/**
 * Makes one side of the connection of two isolates. Values are sent as plain data; functions, promises and iterators as handles. Both sides
 * number the containers in the arguments of a call alike. A result that is one of them arrives as the same object, and the contents that the
 * call changed return with the result. A thrown error arrives as an error of the same built-in class.
 */
export function makeLink({ letter, encode, decode, update, callOther, describe, onThrown }: LinkParts): Link {
  /** Call, kept while its promises are pending. `objects` are the containers in its arguments. */
  interface Call {
    args: readonly unknown[];
    readonly objects: object[];
    /** Text of the arguments as the other side knows them; `undefined` on the calling side. */
    known: string | undefined;
    readonly handles: Handles;
  }
  interface Outcome {
    readonly ok?: unknown;
    readonly threw?: unknown;
    readonly raised?: unknown;
  }
  interface Pending {
    readonly call: Call;
    resolve(value: unknown): void;
    reject(error: unknown): void;
  }
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { create, defineProperty, getPrototypeOf } = Object;
  const { asyncIterator } = Symbol;
  const MapClass = Map;
  const PromiseClass = Promise;
  const TypeErrorClass = TypeError;
  const ErrorClass = Error;
  const then = Promise.prototype.then;
  const IteratorPrototype = getPrototypeOf(getPrototypeOf([].values())) as object;
  /** Objects of this side by handle, and the functions that the other side can call by handle. */
  const mine = new MapClass<string, object>();
  const callable = new MapClass<string, (...args: never[]) => unknown>();
  const known = new WeakMap<object, string>();
  const others = new MapClass<string, object>();
  const pending = new MapClass<string, Pending>();
  let settled: string[] = [];
  let last = 0;

  function newCall(args: readonly unknown[], text: string | undefined): Call {
    const call: Call = {
      args,
      objects: [],
      known: text,
      handles: {
        handleOf: (value) => known.get(value) ?? handOver(value, call),
        functionAt: (handle, name, length) => other(handle, () => shaped(proxy(handle), name, length)),
        iteratorAt: (handle, isAsync) => other(handle, () => iterate(handle, isAsync)),
        promiseAt: (handle) =>
          other(handle, () => new PromiseClass((resolve, reject) => pending.set(handle, { call, resolve, reject }))),
      },
    };
    return call;
  }

  function handOver(value: object, call: Call): string {
    last += 1;
    const handle = `${letter}${last}`;
    known.set(value, handle);
    mine.set(handle, value);
    if (typeof value === "function") callable.set(handle, value as never);
    else if (value instanceof PromiseClass) report(handle, value, call);
    else
      callable.set(handle, ((method: "next" | "return" | "throw", ...args: unknown[]) =>
        step(value as Iterator<unknown>, method, args)) as never);
    return handle;
  }

  /** Returns the object of a handle: this side's own, or the proxy of one of the other side. */
  function other(handle: string, make: () => object): object {
    let found = handle[0] === letter ? mine.get(handle) : others.get(handle);
    if (found === undefined) {
      if (handle[0] === letter) throw new TypeErrorClass("There is nothing of this handle.");
      found = make();
      others.set(handle, found);
      known.set(found, handle);
    }
    return found;
  }

  function report(handle: string, promise: Promise<unknown>, call: Call): void {
    const add = (produce: () => unknown): void => {
      settled[settled.length] = `{"handle":"${handle}","outcome":${outcome(produce, call)}}`;
    };
    void apply(then, promise, [
      (result: unknown) => add(() => result),
      (error: unknown) =>
        add(() => {
          throw error;
        }),
    ]);
  }

  /** Calls a method of an iterator by name: the other side may choose from these three only. */
  function step(source: Iterator<unknown>, method: "next" | "return" | "throw", args: unknown[]): unknown {
    if (method !== "next" && method !== "return" && method !== "throw")
      throw new TypeErrorClass("An iterator has no such method.");
    const run = source[method] as ((...given: unknown[]) => unknown) | undefined;
    if (run !== undefined) return apply(run, source, args);
    if (method === "throw") throw args[0];
    return { done: true, value: args[0] };
  }

  function iterate(handle: string, isAsync: boolean): object {
    const call = proxy(handle);
    const self = create(isAsync ? null : IteratorPrototype) as object;
    const define = (key: string | symbol, value: unknown): unknown =>
      defineProperty(self, key, { value, configurable: true, enumerable: false, writable: true });
    let isDone = false;
    const ended = () => ({ done: true, value: undefined });
    // An iterator that has ended by `next` stays so, whatever the other side answers next. `return` is no end: a
    // loop that is left calls it, and an iterator of an array continues after it.
    const noted = (result: unknown): unknown => {
      if (typeof result === "object" && result !== null && "done" in result && result.done) isDone = true;
      return result;
    };
    for (const method of ["next", "return", "throw"])
      define(method, (...args: unknown[]) => {
        if (isDone && method === "next") return isAsync ? new PromiseClass((resolve) => resolve(ended())) : ended();
        const result = call(method, ...args);
        if (method !== "next") return result;
        return result instanceof PromiseClass ? apply(then, result, [noted]) : noted(result);
      });
    if (isAsync) define(asyncIterator, () => self);
    return self;
  }

  /** Sets name and number of parameters as of the function there: currying, for example, counts them. */
  function shaped(made: (...args: unknown[]) => unknown, name: unknown, length: unknown): object {
    if (typeof name === "string") defineProperty(made, "name", { value: name, configurable: true });
    if (typeof length === "number") defineProperty(made, "length", { value: length, configurable: true });
    return made;
  }

  function proxy(target: string): (...args: unknown[]) => unknown {
    return (...args) => {
      const call = newCall(args, undefined);
      const text = callOther(target, encode(args, call.handles, call.objects));
      return concluded(parse(text), call);
    };
  }

  /** Returns the value of an outcome or throws its error. The outcome is untrusted: the other side wrote it. */
  function concluded(result: unknown, call: Call): unknown {
    const { ok, threw, raised } = (typeof result === "object" && result !== null ? result : {}) as Outcome;
    const { objects } = call;
    const size = objects.length;
    const read = (message: unknown): unknown => {
      try {
        const { values, contents } = decode(message, call.handles, objects);
        for (let i = 0; i < contents.length; i++) update(objects[i], contents[i]);
        return values[0];
      } finally {
        objects.length = size;
      }
    };
    if (ok !== undefined) return read(ok);
    const from = described(threw);
    let error: unknown;
    try {
      error = raised === undefined ? errorOf(from) : read(raised);
    } catch {
      error = errorOf(from);
    }
    if (typeof error === "object" && error !== null) onThrown(error, from);
    throw error;
  }

  function described(threw: unknown): DescribedError {
    const { name, message, trace, line } = (typeof threw === "object" && threw !== null ? threw : {}) as Partial<
      Record<keyof DescribedError, unknown>
    >;
    const text = (value: unknown): string => (typeof value === "string" ? value : "");
    return {
      name: text(name) || "Error",
      message: text(message),
      trace: text(trace),
      ...(typeof line === "number" ? { line } : {}),
    };
  }

  function errorOf({ name, message }: DescribedError): Error {
    return defineProperty(new ErrorClass(message), "name", { value: name, configurable: true, writable: true });
  }

  /** Returns the text of the result or error of `produce`, with the contents of the arguments if they changed. */
  function outcome(produce: () => unknown, call: Call): string {
    const { objects } = call;
    const size = objects.length;
    const encoded = (value: unknown, withContents: boolean): string => {
      try {
        return encode([value], call.handles, objects, withContents);
      } finally {
        objects.length = size;
      }
    };
    const text = (value: unknown): string => {
      const after = changed(call);
      if (after === undefined) return encoded(value, false);
      let both: string;
      try {
        both = encoded(value, true);
      } catch {
        return encoded(value, false); // An argument now contains a value that cannot be sent: the other side keeps its contents.
      }
      call.known = after;
      return both;
    };
    let value: unknown;
    try {
      value = produce();
    } catch (error) {
      const threw = `{"threw":${stringify(describe(error))}`;
      try {
        return `${threw},"raised":${text(error)}}`;
      } catch {
        return `${threw}}`;
      }
    }
    try {
      return `{"ok":${text(value)}}`;
    } catch (error) {
      return `{"threw":${stringify(describe(error))}}`;
    }
  }

  /** Returns the text of the arguments if it differs from the text that the other side knows. */
  function changed(call: Call): string | undefined {
    if (call.known === undefined || call.objects.length === 0) return undefined;
    try {
      const now = encode(call.args, call.handles, []);
      return now === call.known ? undefined : now;
    } catch {
      return undefined;
    }
  }

  return {
    proxy,
    functionAt: (handle) => callable.get(handle),
    serve(target, argsText) {
      const call = newCall([], argsText);
      let args: readonly unknown[];
      try {
        args = decode(parse(argsText), call.handles, call.objects).values;
      } catch (error) {
        return stringify({ threw: describe(error) });
      }
      call.args = args;
      return outcome(() => apply(target, undefined, args as never[]), call);
    },
    takeSettled() {
      const taken = settled;
      settled = [];
      return taken;
    },
    settle(text) {
      let settled: { handle: unknown; outcome: unknown };
      try {
        settled = parse(text) as typeof settled;
        if (typeof settled !== "object" || settled === null || typeof settled.handle !== "string") return;
      } catch {
        return; // The other side can send any text. Its promise stays pending.
      }
      const waiting = pending.get(settled.handle);
      if (waiting === undefined) return;
      pending.delete(settled.handle);
      try {
        waiting.resolve(concluded(settled.outcome, waiting.call));
      } catch (error) {
        waiting.reject(error);
      }
    },
  };
}
