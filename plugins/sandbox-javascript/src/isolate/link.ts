// Runs inside an isolate: the text of this function is what goes there, so it uses nothing of this module.
import type { Decode } from "./decode.ts";
import type { Encode, Handles } from "./encode.ts";
import type { DescribedError } from "./errors.ts";
import type { Update } from "./update.ts";

/** Calls a function of the other isolate: an entry point by name, or what it has handed over by handle. */
export type CallOther = (target: string, argsText: string) => string;

export interface LinkParts {
  /** Of the handles of this side. */
  readonly letter: "s" | "t";
  readonly encode: Encode;
  readonly decode: Decode;
  readonly update: Update;
  readonly callOther: CallOther;
  readonly describe: (error: unknown) => DescribedError;
  /** An error of the other side has become `error` here. */
  readonly onThrown: (error: object, from: DescribedError) => void;
}

export interface Link {
  /** A function here that calls one of the other side. */
  proxy(target: string): (...args: unknown[]) => unknown;
  /** The other side calls: answers with the outcome as text. */
  serve(target: (...args: never[]) => unknown, argsText: string): string;
  /** A function of this side that the other side has a handle of. */
  functionAt(handle: string): ((...args: never[]) => unknown) | undefined;
  /** Promises of this side that have settled since the last call of this function, as text for `settle` of the other side. */
  takeSettled(): string[];
  settle(text: string): void;
}

/**
 * One end of the connection of two isolates. Values go as plain data; functions, promises and iterators as handles. Both ends number the containers in the
 * arguments of a call: a result that is one of them arrives as the same object, and the contents of those that the call has changed come back with the result.
 * An error that is thrown arrives as an error of the same built-in class.
 */
export function makeLink({ letter, encode, decode, update, callOther, describe, onThrown }: LinkParts): Link {
  /** A call, while promises that belong to it are open. `objects` are the containers in its arguments. */
  interface Call {
    args: readonly unknown[];
    readonly objects: object[];
    /** The text of the arguments as the other side has them; `undefined` on the side that calls. */
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
  /** Objects of this side that the other side has a handle of, and the functions that it can call by one. */
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

  /** The thing of this handle: this side's own, or what stands here for one of the other side. */
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

  /** The other side says which method: any other one would change the iterator itself. */
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
    for (const method of ["next", "return", "throw"]) define(method, (...args: unknown[]) => call(method, ...args));
    if (isAsync) define(asyncIterator, () => self);
    return self;
  }

  /** The same name and number of parameters as the function there: what curries, for one, counts them. */
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

  /** The value of an outcome, or its error, which is thrown. The text is untrusted: the other side wrote it. */
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

  /** Text of what `produce` returns or throws, with the contents of the arguments if they are no longer those that the other side knows. */
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
        return encoded(value, false); // An argument holds something now that cannot cross: the other side keeps what it has.
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

  /** The text of the arguments, if it is not what the other side knows. */
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
      let said: { handle: unknown; outcome: unknown };
      try {
        said = parse(text) as typeof said;
        if (typeof said !== "object" || said === null || typeof said.handle !== "string") return;
      } catch {
        return; // The other side can send anything. Its promise stays open.
      }
      const waiting = pending.get(said.handle);
      if (waiting === undefined) return;
      pending.delete(said.handle);
      try {
        waiting.resolve(concluded(said.outcome, waiting.call));
      } catch (error) {
        waiting.reject(error);
      }
    },
  };
}
