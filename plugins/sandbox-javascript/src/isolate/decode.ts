// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { Handles } from "./encode.ts";

/** Decoded message. `contents`: present contents of the known objects; empty if the text has none. */
export interface Decoded {
  readonly values: readonly unknown[];
  readonly contents: readonly object[];
}

/**
 * Reads the parsed text of `Encode`. Values consist of exact built-in types and of `objects` and `handles` only, for any text. `objects` is the
 * list of the other side. Throws for a text that no encoder writes.
 */
export type Decode = (message: unknown, handles: Handles | undefined, objects: object[]) => Decoded;

export function makeDecoder(): Decode {
  type Tagged = {
    readonly $?: unknown;
    readonly k?: unknown;
    readonly v?: unknown;
    readonly n?: unknown;
    readonly l?: unknown;
    readonly o?: unknown;
    readonly h?: unknown;
    readonly i?: unknown;
  };
  interface Scope {
    readonly handles: Handles | undefined;
    readonly objects: readonly object[];
  }
  const { isArray } = Array;
  const { keys, defineProperty, getOwnPropertyNames } = Object;
  const { apply } = Reflect;
  const PromiseClass = Promise;
  const { then } = Promise.prototype;
  const MapClass = Map;
  const SetClass = Set;
  const DateClass = Date;
  const TypeErrorClass = TypeError;
  const RegExpClass = RegExp;
  const BytesClass = Uint8Array;
  const ViewClass = DataView;
  const AggregateErrorClass = AggregateError;
  const box = Object;
  const toBigInt = BigInt;
  const { isInteger } = Number;
  const typedClasses: Record<string, new (values: never[]) => object> = {
    __proto__: null,
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    ...(typeof Float16Array === "function" ? { Float16Array } : {}),
  } as never;
  const errorClasses: Record<string, new (message: string) => Error> = {
    __proto__: null,
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
  } as never;
  /** Keys of the result of a regular expression. */
  const MATCH_KEYS: Record<string, true> = {
    __proto__: null,
    index: true,
    input: true,
    groups: true,
    indices: true,
  } as never;
  const INHERITED: Record<string, true> = { __proto__: null } as never;
  /** Conversions, which may be functions that return one value. */
  const CONVERSIONS: Record<string, true> = {
    __proto__: null,
    toString: true,
    valueOf: true,
    toLocaleString: true,
    toJSON: true,
  } as never;
  for (const name of getOwnPropertyNames(Object.prototype)) INHERITED[name] = true;

  function malformed(): never {
    throw new TypeErrorClass("The submission's isolate sent a value of no known form.");
  }

  function text(value: unknown): string {
    return typeof value === "string" ? value : malformed();
  }

  function list(value: unknown): unknown[] {
    return isArray(value) ? value : malformed();
  }

  /** Decodes a part of a container: a primitive, or an object with a tag. */
  function valueOf(tree: unknown, scope: Scope): unknown {
    if (typeof tree !== "object" || tree === null) return tree;
    const { $: tag, v: content, n: name, l: length } = tree as Tagged;
    if (typeof tag === "number")
      return isInteger(tag) && tag >= 0 && tag < scope.objects.length ? scope.objects[tag] : malformed();
    switch (tag) {
      case "u":
        return undefined;
      case "n":
      case "b":
        return numberOf(tree);
      case "f":
        return scope.handles?.functionAt(text(content), name, length);
      case "p":
        return scope.handles?.promiseAt(text(content));
      case "i":
      case "j":
        return scope.handles?.iteratorAt(text(content), tag === "j");
      case "k": {
        const value = valueOf(content, scope);
        return () => value;
      }
      default:
        return malformed();
    }
  }

  function numberOf(tree: unknown): number | bigint {
    if (typeof tree === "number") return tree;
    const { $: tag, v: content } = (typeof tree === "object" && tree !== null ? tree : {}) as Tagged;
    if (tag === "b") return toBigInt(text(content));
    if (tag !== "n") return malformed();
    return content === "-0" ? -0 : content === "Infinity" ? Infinity : content === "-Infinity" ? -Infinity : NaN;
  }

  /** Makes a container, empty if it can be filled later. */
  function containerOf(tree: unknown): object {
    if (isArray(tree)) return [];
    if (typeof tree !== "object" || tree === null) return malformed();
    const { $: tag, k: kind, v: content, i: index } = tree as Tagged;
    switch (tag) {
      case undefined:
      case "o":
        return {};
      case "z":
        return { __proto__: null };
      case "l":
        return [];
      case "m":
        return new MapClass();
      case "s":
        return new SetClass();
      case "d":
        return new DateClass(numberOf(content) as number);
      case "t":
        return bytesOf(text(kind), list(content));
      case "w":
        return box(typeof content === "string" || typeof content === "boolean" ? content : numberOf(content)) as object;
      case "x": {
        const pattern = new RegExpClass(text(content), text(kind));
        pattern.lastIndex = numberOf(index) as number;
        return pattern;
      }
      case "e":
        return kind === "AggregateError"
          ? new AggregateErrorClass([], text(content))
          : new (errorClasses[text(kind)] ?? malformed())(text(content));
      default:
        return malformed();
    }
  }

  function bytesOf(kind: string, trees: unknown[]): object {
    const items: unknown[] = [];
    for (let i = 0; i < trees.length; i++) items[i] = numberOf(trees[i]);
    if (kind === "ArrayBuffer") return new BytesClass(items as number[]).buffer;
    if (kind === "DataView") return new ViewClass(new BytesClass(items as number[]).buffer);
    return new (typedClasses[kind] ?? malformed())(items as never[]);
  }

  function fill(container: object, tree: unknown, scope: Scope): void {
    if (isArray(tree)) return fillArray(container as unknown[], tree, scope);
    const { $: tag, v: content, o: own } = tree as Tagged;
    switch (tag) {
      case undefined: {
        const names = keys(tree as object);
        for (let i = 0; i < names.length; i++)
          put(container, names[i] as string, (tree as Record<string, unknown>)[names[i] as string], scope);
        return;
      }
      case "o":
      case "z":
        for (const entry of list(content)) put(container, text(list(entry)[0]), (entry as unknown[])[1], scope);
        return;
      case "l":
        fillArray(container as unknown[], list(content), scope);
        for (const entry of list(own))
          if (MATCH_KEYS[text(list(entry)[0])]) put(container, (entry as [string])[0], (entry as unknown[])[1], scope);
        return;
      case "m":
        for (const entry of list(content))
          (container as Map<unknown, unknown>).set(
            valueOf(list(entry)[0], scope),
            valueOf((entry as unknown[])[1], scope),
          );
        return;
      case "s":
        for (const item of list(content)) (container as Set<unknown>).add(valueOf(item, scope));
        return;
      case "e":
        fillError(container as Error, tree as Tagged, scope);
        return;
      default:
    }
  }

  function fillArray(items: unknown[], trees: unknown[], scope: Scope): void {
    for (let i = 0; i < trees.length; i++) {
      const tree = trees[i];
      if (typeof tree === "object" && tree !== null && (tree as Tagged).$ === "h") items.length = i + 1;
      else items[i] = valueOf(tree, scope);
    }
  }

  /**
   * Defines a property. A function under a name that every object inherits would replace a function of the language, such as `hasOwnProperty`. It
   * is left out, unless it is a conversion that returns one value.
   */
  function put(record: object, key: string, tree: unknown, scope: Scope): void {
    const value = propertyOf(key, tree, scope);
    if (!INHERITED[key]) (record as Record<string, unknown>)[key] = value;
    else if (typeof value !== "function" || (CONVERSIONS[key] && (tree as Tagged).$ === "k"))
      define(record, key, value, true);
  }

  /**
   * Decodes the value of a property. A method `then` has one outcome, as that of a promise, where it is called with a function, as each `await` of
   * its object does. Else it is a function like any other.
   */
  function propertyOf(key: string, tree: unknown, scope: Scope): unknown {
    const value = valueOf(tree, scope);
    if (key !== "then" || typeof value !== "function") return value;
    let promise: Promise<unknown> | undefined;
    return (...given: unknown[]): unknown => {
      if (typeof given[0] !== "function") return apply(value, undefined, given);
      promise ??= new PromiseClass(value as never);
      return apply(then, promise, given);
    };
  }

  function define(record: object, key: string, value: unknown, enumerable: boolean): void {
    defineProperty(record, key, { value, configurable: true, enumerable, writable: true });
  }

  function fillError(error: Error, { n: name, h: hidden, o: own }: Tagged, scope: Scope): void {
    if (error.name !== text(name)) define(error, "name", name, false);
    for (const entry of list(hidden)) {
      const key = list(entry)[0];
      if (key === "cause" || key === "errors") define(error, key, valueOf((entry as unknown[])[1], scope), false);
    }
    for (const entry of list(own)) {
      const key = text(list(entry)[0]);
      const value = propertyOf(key, (entry as unknown[])[1], scope);
      const isText = key !== "name" && key !== "message" && key !== "stack";
      if (!INHERITED[key] && (isText || typeof value === "string")) define(error, key, value, true);
    }
  }

  return (message, handles, objects) => {
    const [trees, given, from] = list(message);
    const containers = list(given);
    const known = objects.length;
    const contents: object[] = [];
    if (from !== known && (from !== 0 || containers.length < known)) malformed();
    const old = from === known ? 0 : known;
    for (let i = 0; i < containers.length; i++) {
      const container = containerOf(containers[i]);
      if (i < old) contents[i] = container;
      else objects[objects.length] = container;
    }
    const scope: Scope = { handles, objects };
    for (let i = 0; i < containers.length; i++)
      fill((i < old ? contents[i] : objects[known - old + i]) as object, containers[i], scope);
    const values: unknown[] = [];
    for (const tree of list(trees)) values[values.length] = valueOf(tree, scope);
    return { values, contents };
  };
}
