// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.

/** `loose`: primitives by `==`, prototypes ignored; `strict`: by Object.is, with prototypes; `partial`: `left` may have more than `right`. */
export type Mode = "loose" | "partial" | "strict";
export type DeepEqual = (left: unknown, right: unknown, mode: Mode) => boolean;

/** Makes structural equality by the rules of Node 24's `assert.deepEqual`, `deepStrictEqual` and `partialDeepStrictEqual`. */
export function makeDeepEqual(): DeepEqual {
  type Keyed = Record<PropertyKey, unknown>;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const { keys, hasOwn, is, getPrototypeOf, getOwnPropertySymbols, getOwnPropertyDescriptor } = Object;
  const { toString, propertyIsEnumerable } = Object.prototype;
  const { apply } = Reflect;
  const { toStringTag } = Symbol;
  const BytesClass = Uint8Array;
  const typedName = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), toStringTag)?.get as () =>
    | string
    | undefined;
  const boxClasses = [Number, String, Boolean, BigInt, Symbol];
  const boxedOf = boxClasses.map(({ prototype }) => prototype.valueOf as () => unknown);
  /** Classes in the order in which they select the comparison of two values. */
  const KINDS = [Set, Map, Date, RegExp, ArrayBuffer];
  const WELL_KNOWN = new Set<unknown>([
    Array,
    ArrayBuffer,
    DataView,
    Date,
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
    AggregateError,
    Function,
    Map,
    Number,
    Object,
    Promise,
    RegExp,
    Set,
    String,
    Symbol,
    WeakMap,
    WeakSet,
    Boolean,
    BigInt,
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
  ]);

  const isError = (value: unknown): value is Error => value instanceof Error;
  const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
  const isEnumerable = (value: object, key: PropertyKey): boolean =>
    apply(propertyIsEnumerable, value, [key]) as boolean;
  const tagOf = (value: object): string => apply(toString, value, []) as string;
  const isUrl = (value: object): value is { readonly href: string } =>
    typeof URL === "function" && value instanceof URL;

  function kindOf(value: object): number {
    for (let i = 0; i < KINDS.length; i++) if (value instanceof (KINDS[i] as never)) return i;
    return -1;
  }

  function boxOf(value: object): number {
    for (let i = 0; i < boxClasses.length; i++) if (value instanceof (boxClasses[i] as never)) return i;
    return -1;
  }

  function bytesOf(value: ArrayBufferView | ArrayBuffer): Uint8Array {
    return isView(value) ? new BytesClass(value.buffer, value.byteOffset, value.byteLength) : new BytesClass(value);
  }

  /** Whether `a` has the bytes of `b`; a larger `a` must have them in this order. */
  function sameBytes(a: Uint8Array, b: Uint8Array, mode: Mode): boolean {
    if (a.length < b.length || (mode !== "partial" && a.length !== b.length)) return false;
    let at = 0;
    for (const byte of b) {
      while (at < a.length && a[at] !== byte) {
        if (a.length === b.length) return false;
        at += 1;
      }
      if (at >= a.length) return false;
      at += 1;
    }
    return true;
  }

  function sameFloats(a: Float64Array, b: Float64Array): boolean {
    return a.length === b.length && a.every((item, index) => item === b[index]);
  }

  function symbolsOf(value: object): symbol[] {
    return getOwnPropertySymbols(value).filter((symbol) => isEnumerable(value, symbol));
  }

  /** Returns the own enumerable keys that are not indices. */
  function otherKeys(value: object, mode: Mode): PropertyKey[] {
    const names = keys(value);
    let from = names.length;
    while (from > 0 && !/^(?:0|[1-9]\d*)$/.test(names[from - 1] as string)) from -= 1;
    return mode === "loose" ? names.slice(from) : [...names.slice(from), ...symbolsOf(value)];
  }

  function hasClassOf(a: Keyed, b: Keyed): boolean {
    const { constructor } = a;
    if (WELL_KNOWN.has(constructor) || (constructor !== undefined && !hasOwn(a, "constructor")))
      return constructor === b.constructor;
    return getPrototypeOf(a) === getPrototypeOf(b);
  }

  /** Finds partners for values one by one, in the order in which Node tries them, which matters with `==`. */
  function partners<T>(candidates: T[]): { take(fits: (candidate: T) => boolean): boolean; readonly left: number } {
    let start = 0;
    let end = candidates.length - 1;
    let isForward = true;
    return {
      take(fits) {
        let from = start;
        if (isForward) {
          if (fits(candidates[start] as T)) {
            start += 1;
            return true;
          }
          if (start === end) return false;
          isForward = false;
          from += 1;
        }
        if (!fits(candidates[end] as T)) {
          isForward = true;
          let at = end - 1;
          while (at >= from && !fits(candidates[at] as T)) at -= 1;
          if (at < from) return false;
          candidates[at] = candidates[end] as T;
        }
        end -= 1;
        return true;
      },
      get left() {
        return end - start + 1;
      },
    };
  }

  function comparison(mode: Mode, ancestors: Set<object> | undefined): (a: unknown, b: unknown) => boolean {
    function same(a: unknown, b: unknown): boolean {
      if (a === b) return a !== 0 || mode === "loose" || is(a, b);
      if (!isObject(a) || !isObject(b)) {
        if (mode !== "loose") return a !== a && b !== b;
        // oxlint-disable-next-line eqeqeq -- the rule of `deepEqual`
        return !isObject(a) && !isObject(b) && (a == b || (a !== a && b !== b));
      }
      if (ancestors === undefined) return sameObjects(a, b);
      const { size } = ancestors;
      ancestors.add(a).add(b);
      if (ancestors.size !== size + 2) return ancestors.size === size;
      const isSame = sameObjects(a, b);
      ancestors.delete(a);
      ancestors.delete(b);
      return isSame;
    }

    function sameObjects(a: object, b: object): boolean {
      if (mode === "strict" && !hasClassOf(a as Keyed, b as Keyed)) return false;
      if ((a as Keyed)[toStringTag] !== (b as Keyed)[toStringTag]) return false;
      if (isArray(a))
        return (
          isArray(b) &&
          (mode === "partial" ? a.length >= b.length : a.length === b.length) &&
          sameKeys(a, b, otherKeys(a, mode), otherKeys(b, mode)) &&
          sameItems(a, b)
        );
      if (tagOf(a) !== tagOf(b)) return false;
      if (tagOf(a) === "[object Object]") return sameProperties(a, b);
      if (isView(a)) return isView(b) && sameViews(a, b) && sameKeys(a, b, otherKeys(a, mode), otherKeys(b, mode));
      const kind = kindOf(a);
      if (isArray(b) || isView(b) || kind !== kindOf(b)) return false;
      if (kind >= 0)
        return (
          sameOfKind(a, b) &&
          sameProperties(a, b) &&
          (!(a instanceof Set) || sameSets(a, b as never)) &&
          (!(a instanceof Map) || sameMaps(a, b as never))
        );
      if (isError(a)) return isError(b) && sameErrors(a, b) && sameProperties(a, b);
      const box = boxOf(a);
      if (
        box !== boxOf(b) ||
        (box >= 0 && !is(apply(boxedOf[box] as () => unknown, a, []), apply(boxedOf[box] as () => unknown, b, [])))
      )
        return false;
      if (isUrl(a)) return isUrl(b) && a.href === b.href;
      if (isError(b) || a instanceof WeakMap || a instanceof WeakSet || a instanceof Promise) return false;
      return sameProperties(a, b);
    }

    /** Compares objects of a kind that contains no values. */
    function sameOfKind(a: object, b: object): boolean {
      if (a instanceof Date) return is(a.getTime(), (b as Date).getTime());
      if (a instanceof RegExp)
        return (
          a.source === (b as RegExp).source &&
          a.flags === (b as RegExp).flags &&
          a.lastIndex === (b as RegExp).lastIndex
        );
      if (a instanceof ArrayBuffer) return sameBytes(bytesOf(a), bytesOf(b as ArrayBuffer), mode);
      const [size, otherSize] = [(a as Set<unknown>).size, (b as Set<unknown>).size];
      return mode === "partial" ? size >= otherSize : size === otherSize;
    }

    function sameViews(a: ArrayBufferView, b: ArrayBufferView): boolean {
      const name = apply(typedName, a, []) as string | undefined;
      if (name !== apply(typedName, b, [])) return false;
      return mode === "loose" && name?.startsWith("Float") === true
        ? sameFloats(a as Float64Array, b as Float64Array)
        : sameBytes(bytesOf(a), bytesOf(b), mode);
    }

    function sameErrors(a: Error, b: Error): boolean {
      const [left, right] = [a as unknown as Keyed, b as unknown as Keyed];
      for (const key of ["message", "name", "cause", "errors"]) {
        if (isEnumerable(b, key)) continue;
        if (mode === "partial" && (right[key] === undefined || (key === "message" && right[key] === ""))) continue;
        if (!same(left[key], right[key])) return false;
      }
      return hasOwn(b, "cause") ? hasOwn(a, "cause") : mode === "partial" || !hasOwn(a, "cause");
    }

    function sameProperties(a: object, b: object): boolean {
      const [left, right] = [keys(a) as PropertyKey[], keys(b) as PropertyKey[]];
      if (mode === "partial") return sameKeys(a, b, undefined, [...right, ...symbolsOf(b)]);
      if (left.length !== right.length) return false;
      return mode === "loose"
        ? sameKeys(a, b, left, right)
        : sameKeys(a, b, [...left, ...symbolsOf(a)], [...right, ...symbolsOf(b)]);
    }

    function sameKeys(
      a: object,
      b: object,
      left: readonly PropertyKey[] | undefined,
      right: readonly PropertyKey[],
    ): boolean {
      if (left !== undefined && mode !== "partial" && left.length !== right.length) return false;
      for (let i = 0; i < right.length; i++) {
        const key = right[i] as PropertyKey;
        if (!hasOwn(a, key) || !isEnumerable(a, key) || !same((a as Keyed)[key], (b as Keyed)[key])) return false;
      }
      return true;
    }

    function sameItems(a: unknown[], b: unknown[]): boolean {
      if (mode === "partial") return someItems(a, b);
      for (let i = 0; i < b.length; i++) {
        // From a hole of `b` on, the remaining keys are compared. A hole of `a` equals only `null`, with `==`.
        if (b[i] === undefined && !hasOwn(b, i)) return sameKeys(a, b, keys(a), keys(b));
        if (a[i] === undefined && !hasOwn(a, i) && (mode !== "loose" || b[i] !== null)) return false;
        if (!same(a[i], b[i])) return false;
      }
      return true;
    }

    /** Whether `a` has the items of `b` in this order, with other items between them. */
    function someItems(a: unknown[], b: unknown[]): boolean {
      const [left, right] = [keys(a).slice(0, a.length), keys(b)];
      let at = 0;
      for (let i = 0; i < b.length && i < right.length; i++) {
        while (at < left.length && !same(a[left[at] as never], b[right[i] as never])) at += 1;
        if (at >= left.length) return false;
        at += 1;
      }
      return true;
    }

    /** Whether a primitive that the other set lacks may equal another item by `==`. */
    function mayBeLoose(value: unknown, has: (alternative: unknown) => boolean): boolean {
      if (value === undefined) return has(null);
      if (value === null) return has(undefined);
      if (typeof value === "symbol") return false;
      const number = typeof value === "string" ? +value : value;
      return number === number;
    }

    function sameSets(a: Set<unknown>, b: Set<unknown>): boolean {
      const missing: unknown[] = [];
      for (const value of b) {
        if (a.has(value)) continue;
        if (!isObject(value) && !(mode === "loose" && mayBeLoose(value, (other) => a.has(other) && !b.has(other))))
          return false;
        missing.push(value);
      }
      if (missing.length === 0) return true;
      const pool = partners(missing);
      for (const value of a) {
        if (b.has(value)) continue;
        if (pool.left === 0) return mode === "partial";
        if (mode === "strict" && !isObject(value)) return false;
        if (!pool.take((candidate) => same(value, candidate)) && mode !== "partial") return false;
      }
      return pool.left === 0;
    }

    function sameMaps(a: Map<unknown, unknown>, b: Map<unknown, unknown>): boolean {
      const missing: unknown[] = [];
      for (const [key, value] of b) {
        if (!isObject(key)) {
          if (a.has(key) && same(a.get(key), value)) continue;
          if (
            mode !== "loose" ||
            !mayBeLoose(key, (other) => a.has(other) && !b.has(other) && same(a.get(other), value))
          )
            return false;
        }
        missing.push(key);
      }
      if (missing.length === 0) return true;
      const pool = partners(missing);
      for (const [key, value] of a) {
        if (!isObject(key)) {
          if (mode === "partial") continue;
          if (b.has(key) && (mode === "strict" || same(value, b.get(key)))) continue;
          if (mode === "strict") return false;
        }
        if (pool.left === 0) return mode === "partial";
        if (!pool.take((candidate) => same(key, candidate) && same(value, b.get(candidate))) && mode !== "partial")
          return false;
      }
      return pool.left === 0;
    }

    return same;
  }

  return (left, right, mode) => {
    try {
      return comparison(mode, undefined)(left, right);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return comparison(mode, new Set())(left, right); // They contain themselves.
    }
  };
}
