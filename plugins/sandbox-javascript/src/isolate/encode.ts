// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.

/** Handles for functions, promises and iterators, which do not leave their isolate: the letter of the owner and a number, `s12`. */
export interface Handles {
  handleOf(value: object): string;
  /** Returns the function of a handle, with the name and length that the other side sent. */
  functionAt(handle: string, name: unknown, length: unknown): unknown;
  promiseAt(handle: string): unknown;
  iteratorAt(handle: string, isAsync: boolean): unknown;
}

/**
 * Writes values as JSON text: `[values, containers, from]`. Each container appears once in a list, and as its number `{ $: 3 }` elsewhere, so
 * that cycles, shared parts and any depth are possible. `objects` has the containers that both sides know; new ones are appended. The list
 * begins at `from`: after the known ones, or at 0 to send their present contents. Throws a TypeError for a value that is not plain data.
 */
export type Encode = (
  values: readonly unknown[],
  handles: Handles | undefined,
  objects: object[],
  withContents?: boolean,
) => string;

/**
 * Makes the encoder. A value that JSON lacks is an object with the key `$`. Instances of classes become plain objects of their own
 * enumerable properties. A function `toString`, `valueOf`, `toLocaleString` or `toJSON` is called once, here; the other side gets a function
 * that returns this result, so the answer cannot depend on the caller.
 */
export function makeEncoder(): Encode {
  interface Scope {
    readonly handles: Handles | undefined;
    readonly objects: object[];
    /** Numbers of containers, made with the first one. */
    numbers: Map<object, number> | undefined;
  }
  const { stringify } = JSON;
  const { isArray } = Array;
  const { keys, hasOwn, getPrototypeOf } = Object;
  const { apply } = Reflect;
  const ObjectPrototype = Object.prototype;
  const MapClass = Map;
  const SetClass = Set;
  const DateClass = Date;
  const ErrorClass = Error;
  const PromiseClass = Promise;
  const TypeErrorClass = TypeError;
  const RegExpClass = RegExp;
  const BufferClass = ArrayBuffer;
  const BytesClass = Uint8Array;
  const toText = String;
  const { isView } = ArrayBuffer;
  const dateTime = Date.prototype.getTime;
  const mapEach = Map.prototype.forEach;
  const setEach = Set.prototype.forEach;
  const typedName = Object.getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
    ?.get as () => string | undefined;
  const boxes = [Number.prototype, String.prototype, Boolean.prototype, BigInt.prototype] as { valueOf(): unknown }[];
  const unboxes = boxes.map((prototype) => prototype.valueOf);
  const errorNames = new MapClass<object, string>();
  for (const errorClass of [
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
    AggregateError,
  ])
    errorNames.set(errorClass.prototype, errorClass.name);
  const ITERATORS = [
    (function* () {})(),
    (async function* () {})(),
    [][Symbol.iterator](),
    new Map()[Symbol.iterator](),
    new Set()[Symbol.iterator](),
    ""[Symbol.iterator](),
    "".matchAll(/a/g),
    ...(typeof Iterator === "function"
      ? [Iterator.from({ next: () => ({ done: true, value: undefined }) }), [].values().map(() => 0)]
      : []),
  ].map((iterator) => getPrototypeOf(iterator) as object);
  ITERATORS[0] = getPrototypeOf(ITERATORS[0]) as object;
  ITERATORS[1] = getPrototypeOf(ITERATORS[1]) as object;
  const isPrototypeOf = ObjectPrototype.isPrototypeOf;
  const CONVERSIONS: Record<string, true> = {
    __proto__: null,
    toString: true,
    valueOf: true,
    toLocaleString: true,
    toJSON: true,
  } as never;

  function toTree(value: unknown, scope: Scope): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return value - value === 0 && !(value === 0 && 1 / value < 0)
          ? value
          : { $: "n", v: value === 0 ? "-0" : toText(value) };
      case "undefined":
        return { $: "u" };
      case "bigint":
        return { $: "b", v: toText(value) };
      case "function":
        if (scope.handles === undefined) throw new TypeErrorClass("a function is not plain data");
        return functionTree(value, scope.handles);
      case "symbol":
        throw new TypeErrorClass("a symbol is not plain data");
      default:
    }
    if (value === null) return null;
    return objectTree(value as object, scope);
  }

  function functionTree(value: object, handles: Handles): unknown {
    const { name, length } = value as { readonly name: unknown; readonly length: unknown };
    return {
      $: "f",
      v: handles.handleOf(value),
      n: typeof name === "string" ? name : "",
      l: typeof length === "number" ? length : 0,
    };
  }

  function objectTree(value: object, scope: Scope): unknown {
    const numbers = (scope.numbers ??= numbered(scope.objects));
    const known = numbers.get(value);
    if (known !== undefined) return { $: known };
    const handled = scope.handles === undefined ? undefined : handledTree(value, scope.handles);
    if (handled !== undefined) return handled;
    const number = scope.objects.length;
    numbers.set(value, number);
    scope.objects[number] = value;
    return { $: number };
  }

  function numbered(objects: readonly object[]): Map<object, number> {
    const numbers = new MapClass<object, number>();
    for (let i = 0; i < objects.length; i++) numbers.set(objects[i] as object, i);
    return numbers;
  }

  function handledTree(value: object, handles: Handles): unknown {
    const prototype = getPrototypeOf(value) as unknown;
    if (prototype === ObjectPrototype || prototype === null || isArray(value)) return undefined;
    if (value instanceof PromiseClass) return { $: "p", v: handles.handleOf(value) };
    for (let i = 0; i < ITERATORS.length; i++)
      if (apply(isPrototypeOf, ITERATORS[i], [value])) return { $: i === 1 ? "j" : "i", v: handles.handleOf(value) };
    return undefined;
  }

  /** Encodes the contents of a container. */
  function contentsTree(value: object, scope: Scope): unknown {
    if (isArray(value)) return arrayTree(value, scope);
    const prototype = getPrototypeOf(value) as unknown;
    if (prototype === ObjectPrototype) return recordTree(value as Record<string, unknown>, scope);
    if (prototype === null) return { $: "z", v: entriesTree(value, scope) };
    return otherTree(value, scope);
  }

  function arrayTree(value: unknown[], scope: Scope): unknown {
    const items: unknown[] = [];
    const { length } = value;
    for (let i = 0; i < length; i++) {
      const item = value[i];
      items[i] = item === undefined && !hasOwn(value, i) ? { $: "h" } : toTree(item, scope);
    }
    // A match of a regular expression. Searching other arrays for properties would take longer than encoding the items.
    return hasOwn(value, "index") ? { $: "l", v: items, o: entriesTree(value, scope, length) } : items;
  }

  function recordTree(value: Record<string, unknown>, scope: Scope): unknown {
    const names = keys(value);
    for (let i = 0; i < names.length; i++)
      if (names[i] === "$" || names[i] === "__proto__") return { $: "o", v: entriesTree(value, scope) };
    const record: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) record[names[i] as string] = propertyTree(value, names[i] as string, scope);
    return record;
  }

  function entriesTree(value: object, scope: Scope, from = 0): unknown[] {
    const entries: unknown[] = [];
    const names = keys(value);
    for (let i = from; i < names.length; i++)
      entries[entries.length] = [names[i], propertyTree(value as Record<string, unknown>, names[i] as string, scope)];
    return entries;
  }

  function propertyTree(value: Record<string, unknown>, key: string, scope: Scope): unknown {
    const item = value[key];
    if (typeof item !== "function" || !CONVERSIONS[key] || scope.handles === undefined) return toTree(item, scope);
    let converted: unknown;
    try {
      converted = apply(item, value, []);
    } catch {
      // The other side converts it to `undefined`, which fails there too.
    }
    return { $: "k", v: toTree(typeof converted === "function" ? undefined : converted, scope) };
  }

  function otherTree(value: object, scope: Scope): unknown {
    if (value instanceof DateClass) return { $: "d", v: toTree(apply(dateTime, value, []), scope) };
    if (value instanceof MapClass) {
      const entries: unknown[] = [];
      apply(mapEach, value, [
        (item: unknown, key: unknown) => (entries[entries.length] = [toTree(key, scope), toTree(item, scope)]),
      ]);
      return { $: "m", v: entries };
    }
    if (value instanceof SetClass) {
      const items: unknown[] = [];
      apply(setEach, value, [(item: unknown) => (items[items.length] = toTree(item, scope))]);
      return { $: "s", v: items };
    }
    if (isView(value)) return bytesTree(value, apply(typedName, value, []) as string | undefined);
    if (value instanceof BufferClass) return { $: "t", k: "ArrayBuffer", v: numbersOf(new BytesClass(value)) };
    if (value instanceof ErrorClass) return errorTree(value, scope);
    if (value instanceof RegExpClass)
      return { $: "x", k: toText(value.flags), v: toText(value.source), i: toTree(value.lastIndex, scope) };
    const box = boxes.indexOf(getPrototypeOf(value) as never);
    if (box >= 0) return { $: "w", v: toTree(apply(unboxes[box] as () => unknown, value, []), scope) };
    return recordTree(value as Record<string, unknown>, scope);
  }

  function bytesTree(value: ArrayBufferView, name: string | undefined): unknown {
    if (name === undefined)
      return { $: "t", k: "DataView", v: numbersOf(new BytesClass(value.buffer, value.byteOffset, value.byteLength)) };
    return { $: "t", k: name, v: numbersOf(value as Uint8Array) };
  }

  function numbersOf(values: ArrayLike<number | bigint>): unknown[] {
    const items: unknown[] = [];
    for (let i = 0; i < values.length; i++) items[i] = toTree(values[i], undefined as never);
    return items;
  }

  /** Encodes an error: its nearest built-in class and its own properties. */
  function errorTree(value: Error, scope: Scope): unknown {
    let prototype: object | null = getPrototypeOf(value) as object | null;
    while (prototype !== null && !errorNames.has(prototype)) prototype = getPrototypeOf(prototype) as object | null;
    const kind = (prototype === null ? undefined : errorNames.get(prototype)) ?? "Error";
    const name = toText(value.name);
    const hidden: unknown[] = [];
    for (const key of ["cause", "errors"])
      if (hasOwn(value, key)) hidden[hidden.length] = [key, toTree(value[key as never], scope)];
    return { $: "e", k: kind, n: name, v: toText(value.message), h: hidden, o: entriesTree(value, scope) };
  }

  return (values, handles, objects, withContents = false) => {
    const scope: Scope = { handles, objects, numbers: undefined };
    const from = withContents ? 0 : objects.length;
    const trees: unknown[] = [];
    for (let i = 0; i < values.length; i++) trees[i] = toTree(values[i], scope);
    const containers: unknown[] = [];
    for (let i = from; i < objects.length; i++) containers[i - from] = contentsTree(objects[i] as object, scope);
    return stringify([trees, containers, from]);
  };
}
