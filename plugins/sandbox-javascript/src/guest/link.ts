// Runs inside an isolate: the text of this function is what goes there, so it uses nothing of this module.
import type { Codec, Handles } from "./codec.ts";
import type { DescribedError } from "./errors.ts";

/** Calls a function of the other isolate: an entry point by name, or one that it has handed over by number. */
export type CallOther = (target: string | number, argsText: string) => string;

export interface Link {
  /** A function here that calls one over there. */
  proxy(target: string | number): (...args: unknown[]) => unknown;
  /** The other side calls: answers with the outcome as text. */
  serve(target: (...args: never[]) => unknown, argsText: string): string;
  /** A function of this side that the other side knows by number. */
  functionAt(id: number): ((...args: never[]) => unknown) | undefined;
  /** Promises of this side that have settled since it was last asked, as text for `settle` of the other side. */
  takeSettled(): string[];
  settle(text: string): void;
}

/**
 * One end of what connects two isolates. Values go as plain data; functions and promises as numbers. Arguments that a call has changed come back
 * with its result and are changed here too. What is thrown over there is thrown here as an error of the same class.
 */
export function makeLink(codec: Codec, callOther: CallOther, describe: (error: unknown) => DescribedError, onThrown: (error: object, from: DescribedError) => void): Link {
  type Outcome = { readonly ok?: string; readonly threw?: DescribedError; readonly args?: string };
  type Pending = { readonly args: unknown[]; resolve(value: unknown): void; reject(error: unknown): void };
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const MapClass = Map;
  const PromiseClass = Promise;
  const then = Promise.prototype.then;
  const mine = new MapClass<number, (...args: never[]) => unknown>();
  const numbers = new WeakMap<object, { readonly owner: "mine" | "yours"; readonly id: number }>();
  const proxies = new MapClass<number, (...args: unknown[]) => unknown>();
  const pending = new MapClass<number, Pending>();
  let settled: string[] = [];
  let last = 0;

  function handles(args: unknown[], before: string | undefined): Handles {
    return {
      ofFunction(value) {
        let known = numbers.get(value);
        if (known === undefined) {
          last += 1;
          known = { owner: "mine", id: last };
          numbers.set(value, known);
          mine.set(last, value);
        }
        return known;
      },
      functionAt: (owner, id) => (owner === "mine" ? required(mine.get(id)) : proxyAt(id)),
      ofPromise(value) {
        last += 1;
        const id = last;
        const told = (text: () => string): void => {
          settled[settled.length] = `{"id":${id},"outcome":${text()}}`;
        };
        apply(then, value, [(result: unknown) => told(() => outcome(() => result, args, before)), (error: unknown) => told(() => outcome(() => { throw error; }, args, before))]);
        return id;
      },
      promiseAt: (id) => new PromiseClass((resolve, reject) => pending.set(id, { args, resolve, reject })),
    };
  }

  function required<T>(value: T | undefined): T {
    if (value === undefined) throw new TypeError("There is no function of that number.");
    return value;
  }

  function proxyAt(id: number): (...args: unknown[]) => unknown {
    let known = proxies.get(id);
    if (known === undefined) {
      known = proxy(id);
      proxies.set(id, known);
      numbers.set(known, { owner: "yours", id });
    }
    return known;
  }

  function proxy(target: string | number): (...args: unknown[]) => unknown {
    return (...args) => {
      const text = callOther(target, codec.encode(args, handles(args, undefined)));
      return concluded(parse(text) as Outcome, args);
    };
  }

  /** What an outcome means here: a value, or an error that is thrown. */
  function concluded(result: Outcome, args: unknown[]): unknown {
    if (result.args !== undefined) {
      const now = codec.decode(result.args, handles(args, undefined)) as unknown[];
      for (let i = 0; i < args.length; i++) codec.update(args[i], now[i]);
    }
    if (result.ok !== undefined) return codec.decode(result.ok, handles(args, undefined));
    const from = result.threw ?? { name: "Error", message: "", trace: "" };
    const error = codec.decode(stringify({ $: "e", k: from.name, v: from.message })) as object;
    onThrown(error, from);
    throw error;
  }

  /** Text of what `produce` returns or throws, with the arguments if they are no longer as they were `before`. */
  function outcome(produce: () => unknown, args: unknown[], before: string | undefined): string {
    let result: { ok?: string; threw?: DescribedError; args?: string };
    try {
      const value = produce();
      result = { ok: codec.encode(value, handles(args, before)) };
    } catch (error) {
      result = { threw: describe(error) };
    }
    if (before === undefined) return stringify(result);
    let after: string | undefined;
    try {
      after = codec.encode(args, handles(args, before));
    } catch {
      // They hold something now that cannot cross: the other side keeps what it has.
    }
    if (after !== undefined && after !== before) result.args = after;
    return stringify(result);
  }

  return {
    proxy,
    functionAt: (id) => mine.get(id),
    serve(target, argsText) {
      let args: unknown[];
      try {
        args = codec.decode(argsText, handles([], undefined)) as unknown[];
      } catch (error) {
        return stringify({ threw: describe(error) });
      }
      let isMutable = false;
      for (let i = 0; i < args.length; i++) isMutable ||= codec.isContainer(args[i]);
      return outcome(() => apply(target, undefined, args), args, isMutable ? argsText : undefined);
    },
    takeSettled() {
      const taken = settled;
      settled = [];
      return taken;
    },
    settle(text) {
      let told: { id: number; outcome: Outcome };
      try {
        told = parse(text) as typeof told;
        if (typeof told !== "object" || told === null) return;
      } catch {
        return; // The other side can say anything; whoever waits for it waits on.
      }
      const waiting = pending.get(told.id);
      if (waiting === undefined) return;
      pending.delete(told.id);
      try {
        waiting.resolve(concluded(told.outcome, waiting.args));
      } catch (error) {
        waiting.reject(error);
      }
    },
  };
}
