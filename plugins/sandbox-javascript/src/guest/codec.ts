// Runs inside an isolate: the text of this function is what goes there, so it uses nothing of this module.

/** What crosses between two isolates beside plain data: functions and promises, by number. */
export interface Handles {
  /** The number under which the other side can call this function. */
  ofFunction(value: (...args: unknown[]) => unknown): { readonly owner: "mine" | "yours"; readonly id: number };
  functionAt(owner: "mine" | "yours", id: number): unknown;
  ofPromise(value: Promise<unknown>): number;
  promiseAt(id: number): unknown;
}

export interface Codec {
  /** JSON text of a value; throws a TypeError for what is not plain data. */
  encode(value: unknown, handles?: Handles): string;
  /** A value of exact built-in types, whatever the text says. */
  decode(text: string, handles?: Handles): unknown;
  /** Makes `target` equal to `source`, in place, as far as both are containers of one kind. */
  update(target: unknown, source: unknown): boolean;
  isContainer(value: unknown): boolean;
}

/**
 * Values as JSON text: what JSON cannot say becomes an object with the key `$`. Instances of classes become plain objects of their own
 * enumerable properties.
 */
export function makeCodec(): Codec {
  const { stringify, parse } = JSON;
  const { isArray } = Array;
  const { keys, defineProperty, hasOwn } = Object;
  const { apply } = Reflect;
  const MapClass = Map;
  const SetClass = Set;
  const DateClass = Date;
  const ErrorClass = Error;
  const PromiseClass = Promise;
  const TypeErrorClass = TypeError;
  const RegExpClass = RegExp;
  const toText = String;
  const toBigInt = BigInt;
  const { isView } = ArrayBuffer;
  const dateTime = DateClass.prototype.getTime;
  const mapEach = MapClass.prototype.forEach;
  const setEach = SetClass.prototype.forEach;
  const typedName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get as () => string | undefined;
  const typedClasses: Record<string, new (values: never[]) => object> = {
    __proto__: null, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array,
  } as never;
  const errorClasses: Record<string, new (message: string) => Error> = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError } as never;
  const { iterator } = Symbol;
  const GeneratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())) as object;
  const isPrototypeOf = Object.prototype.isPrototypeOf;
  const MAX_DEPTH = 2000;

  /** The tree that JSON.stringify turns into text. */
  function toTree(value: unknown, handles: Handles | undefined, parents: object[]): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return (value === value && value - value === 0 && !(value === 0 && 1 / value < 0)) ? value : { $: "n", v: value === 0 ? "-0" : toText(value) };
      case "undefined":
        return { $: "u" };
      case "bigint":
        return { $: "b", v: toText(value) };
      case "function":
        if (handles === undefined) throw new TypeErrorClass("a function is not plain data");
        return { $: "f", v: handles.ofFunction(value as never) };
      case "symbol":
        throw new TypeErrorClass("a symbol is not plain data");
      default:
        return value === null ? null : objectTree(value as object, handles, parents);
    }
  }

  function objectTree(value: object, handles: Handles | undefined, parents: object[]): unknown {
    for (let i = 0; i < parents.length; i++) if (parents[i] === value) throw new TypeErrorClass("a value that contains itself is not plain data");
    if (parents.length >= MAX_DEPTH) throw new TypeErrorClass("a value is nested too deeply");
    parents[parents.length] = value;
    const tree = containerTree(value, handles, (item) => toTree(item, handles, parents));
    parents.length -= 1;
    return tree;
  }

  function containerTree(value: object, handles: Handles | undefined, tree: (item: unknown) => unknown): unknown {
    if (isArray(value)) {
      const items: unknown[] = [];
      for (let i = 0; i < value.length; i++) items[i] = tree(value[i]);
      return items;
    }
    if (value instanceof DateClass) return { $: "d", v: tree(apply(dateTime, value, [])) };
    if (value instanceof MapClass) {
      const entries: unknown[] = [];
      apply(mapEach, value, [(item: unknown, key: unknown) => (entries[entries.length] = [tree(key), tree(item)])]);
      return { $: "m", v: entries };
    }
    if (value instanceof SetClass) {
      const items: unknown[] = [];
      apply(setEach, value, [(item: unknown) => (items[items.length] = tree(item))]);
      return { $: "s", v: items };
    }
    if (isView(value)) {
      const name = apply(typedName, value, []) as string | undefined;
      const items: unknown[] = [];
      if (name !== undefined) for (let i = 0; i < (value as Uint8Array).length; i++) items[i] = tree((value as Uint8Array)[i]);
      return { $: "t", k: name ?? "Uint8Array", v: items };
    }
    if (value instanceof ErrorClass) return { $: "e", k: toText(value.name), v: toText(value.message) };
    if (value instanceof RegExpClass) return { $: "x", k: toText(value.flags), v: toText(value.source) };
    if (value instanceof PromiseClass && handles !== undefined) return { $: "p", v: handles.ofPromise(value) };
    if (handles !== undefined && apply(isPrototypeOf, GeneratorPrototype, [value])) {
      const generator = value as Iterator<unknown>;
      return { $: "i", v: handles.ofFunction(() => generator.next()) };
    }
    return recordTree(value as Record<string, unknown>, tree);
  }

  function recordTree(value: Record<string, unknown>, tree: (item: unknown) => unknown): unknown {
    const entries: [string, unknown][] = [];
    let isTagged = false;
    for (const key of keys(value)) {
      if (key === "$" || key === "__proto__") isTagged = true;
      entries[entries.length] = [key, tree(value[key])];
    }
    if (isTagged) return { $: "o", v: entries };
    const record: Record<string, unknown> = {};
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as [string, unknown];
      record[entry[0]] = entry[1];
    }
    return record;
  }

  function fromTree(tree: unknown, handles: Handles | undefined): unknown {
    if (typeof tree !== "object" || tree === null) return tree;
    if (isArray(tree)) {
      const items: unknown[] = [];
      for (let i = 0; i < tree.length; i++) items[i] = fromTree(tree[i], handles);
      return items;
    }
    const { $: tag, k: kind, v: content } = tree as { $?: string; k?: string; v?: unknown };
    if (tag !== undefined) return fromTagged(tag, kind ?? "", content, handles);
    const record: Record<string, unknown> = {};
    for (const key of keys(tree)) put(record, key, fromTree((tree as Record<string, unknown>)[key], handles));
    return record;
  }

  function fromTagged(tag: string, kind: string, content: unknown, handles: Handles | undefined): unknown {
    const items = (isArray(content) ? content : []) as unknown[];
    switch (tag) {
      case "n":
        return content === "-0" ? -0 : content === "NaN" ? NaN : content === "Infinity" ? Infinity : -Infinity;
      case "b":
        return toBigInt(content as string);
      case "d":
        return new DateClass(fromTree(content, handles) as number);
      case "m": {
        const map = new MapClass<unknown, unknown>();
        for (const entry of items as [unknown, unknown][]) map.set(fromTree(entry[0], handles), fromTree(entry[1], handles));
        return map;
      }
      case "s": {
        const set = new SetClass<unknown>();
        for (const item of items) set.add(fromTree(item, handles));
        return set;
      }
      case "t":
        return new (typedClasses[kind] ?? Uint8Array)(items.map((item) => fromTree(item, handles)) as never[]);
      case "e": {
        const error = new (errorClasses[kind] ?? ErrorClass)(toText(content));
        if (error.name !== kind) defineProperty(error, "name", { value: kind, configurable: true, writable: true });
        return error;
      }
      case "x":
        return new RegExpClass(toText(content), kind);
      case "o": {
        const record = {};
        for (const entry of items as [string, unknown][]) put(record, toText(entry[0]), fromTree(entry[1], handles));
        return record;
      }
      case "f":
      case "i": {
        const { owner, id } = content as { owner: "mine" | "yours"; id: number };
        // What is mine over there is yours here.
        const call = handles?.functionAt(owner === "mine" ? "yours" : "mine", id) as () => { done: boolean; value: unknown };
        return tag === "f" ? call : iterate(call);
      }
      case "p":
        return handles?.promiseAt(content as number);
      default:
        return undefined;
    }
  }

  /** Assignment, also where the key is `__proto__`. */
  function put(record: object, key: string, value: unknown): void {
    if (key === "__proto__") defineProperty(record, key, { value, configurable: true, enumerable: true, writable: true });
    else (record as Record<string, unknown>)[key] = value;
  }

  function iterate(next: () => { done?: boolean; value: unknown }): unknown {
    const own: Record<symbol | string, unknown> = { next };
    own[iterator] = () => own;
    return own;
  }

  const isContainer = (value: unknown): boolean => typeof value === "object" && value !== null;

  /** Whether it was possible: both are containers of one kind. */
  function update(target: unknown, source: unknown): boolean {
    if (!isContainer(target) || !isContainer(source)) return false;
    if (isArray(target) && isArray(source)) {
      target.length = source.length;
      for (let i = 0; i < source.length; i++) target[i] = updated(target[i], source[i]);
    } else if (target instanceof MapClass && source instanceof MapClass) {
      const old = new MapClass(target);
      target.clear();
      source.forEach((item, key) => target.set(key, updated(old.get(key), item)));
    } else if (target instanceof SetClass && source instanceof SetClass) {
      target.clear();
      source.forEach((item) => target.add(item));
    } else if (target instanceof DateClass && source instanceof DateClass) {
      target.setTime(source.getTime());
    } else if (isView(target) && isView(source)) {
      (target as Uint8Array).set(source as Uint8Array);
    } else if (isRecord(target) && isRecord(source)) {
      for (const key of keys(target)) if (!hasOwn(source, key)) delete target[key];
      for (const key of keys(source)) put(target, key, updated(target[key], source[key]));
    } else {
      return false;
    }
    return true;
  }

  function isRecord(value: unknown): value is Record<string, unknown> {
    return !isArray(value) && !(value instanceof MapClass) && !(value instanceof SetClass) && !(value instanceof DateClass) && !isView(value);
  }

  /** `old`, brought up to date, if it can become `now`; otherwise `now`. */
  function updated(old: unknown, now: unknown): unknown {
    return update(old, now) ? old : now;
  }

  return {
    encode: (value, handles) => stringify(toTree(value, handles, [])),
    decode: (text, handles) => fromTree(parse(text), handles),
    update,
    isContainer,
  };
}
