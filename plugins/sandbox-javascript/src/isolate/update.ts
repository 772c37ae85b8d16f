// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.

/** Replaces the contents of a container in place by those of another one of its kind; returns whether it was possible. Never reads `target` by a key of `contents`. */
export type Update = (target: unknown, contents: unknown) => boolean;

/**
 * Makes the updater. The other side controls `contents`, so the updater changes only data of the container itself. It defines own properties and
 * never sets them, so it cannot reach a setter or a prototype. It does not change objects of the language, or containers with accessors.
 */
export function makeUpdater(): Update {
  const { isArray } = Array;
  const { getPrototypeOf } = Object;
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, ownKeys, has } = Reflect;
  const BytesClass = Uint8Array;
  const { isView } = ArrayBuffer;
  const isPrototypeOf = Object.prototype.isPrototypeOf;
  const { clear: mapClear, set: mapSet, forEach: mapEach } = Map.prototype;
  const { clear: setClear, add: setAdd, forEach: setEach } = Set.prototype;
  const { getTime, setTime } = Date.prototype;
  const setBytes = BytesClass.prototype.set;
  const { prototype: ArrayPrototype } = Array;
  const { prototype: ObjectPrototype } = Object;
  const isOf = (prototype: object, value: object): boolean => apply(isPrototypeOf, prototype, [value]) as boolean;

  /** Whether all own properties are writable data under string keys. */
  function isData(target: object, keys: readonly (string | symbol)[], hidden: string | undefined): boolean {
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string | symbol;
      if (key === hidden) continue;
      const own = getOwnPropertyDescriptor(target, key);
      if (
        typeof key === "symbol" ||
        own === undefined ||
        !("value" in own) ||
        own.enumerable !== true ||
        own.writable !== true
      )
        return false;
    }
    return true;
  }

  /** Replaces own properties by those of `contents`, in their order. */
  function updateProperties(target: object, contents: object, hidden: string | undefined): boolean {
    const old = ownKeys(target);
    if (!isData(target, old, hidden)) return false;
    const prototype = getPrototypeOf(target) as object | null;
    const isPlain = prototype === ObjectPrototype || prototype === null || prototype === ArrayPrototype;
    const keys = ownKeys(contents);
    let same = 0;
    while (same < old.length && old[same] === keys[same]) same += 1;
    for (let i = same; i < old.length; i++) if (old[i] !== hidden) deleteProperty(target, old[i] as string);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      const { value, enumerable } = getOwnPropertyDescriptor(contents, key) as PropertyDescriptor;
      // An inherited name is a method of the class.
      if (key === hidden || enumerable !== true || (!isPlain && has(prototype as object, key))) continue;
      defineProperty(
        target,
        key,
        i < same ? { value } : { value, configurable: true, enumerable: true, writable: true },
      );
    }
    return true;
  }

  function updateArray(target: unknown[], contents: unknown[]): boolean {
    if (!isOf(ArrayPrototype, target)) return false;
    const { length } = contents;
    if (!defineProperty(target, "length", { value: length })) return false;
    return updateProperties(target, contents, "length");
  }

  function updateOther(target: object, contents: object): boolean {
    if (isView(target) && isView(contents)) {
      if (getPrototypeOf(target) !== getPrototypeOf(contents) || target.byteLength !== contents.byteLength)
        return false;
      return copyBytes(target, contents);
    }
    if (isOf(Map.prototype, target) && isOf(Map.prototype, contents)) {
      apply(mapClear, target, []);
      apply(mapEach, contents, [(item: unknown, key: unknown) => void apply(mapSet, target, [key, item])]);
      return true;
    }
    if (isOf(Set.prototype, target) && isOf(Set.prototype, contents)) {
      apply(setClear, target, []);
      apply(setEach, contents, [(item: unknown) => void apply(setAdd, target, [item])]);
      return true;
    }
    if (isOf(Date.prototype, target) && isOf(Date.prototype, contents)) {
      apply(setTime, target, [apply(getTime, contents, [])]);
      return true;
    }
    if (isOf(RegExp.prototype, target) && isOf(RegExp.prototype, contents))
      return defineProperty(target, "lastIndex", { value: (contents as RegExp).lastIndex });
    if (isOf(ArrayBuffer.prototype, target) && isOf(ArrayBuffer.prototype, contents)) {
      return (
        (target as ArrayBuffer).byteLength === (contents as ArrayBuffer).byteLength &&
        copyBytes(new BytesClass(target as ArrayBuffer), new BytesClass(contents as ArrayBuffer))
      );
    }
    const prototype = getPrototypeOf(contents) as unknown;
    return (
      (prototype === ObjectPrototype || prototype === null) &&
      !isExotic(target) &&
      updateProperties(target, contents, undefined)
    );
  }

  function copyBytes(target: ArrayBufferView, contents: ArrayBufferView): boolean {
    const bytes = (view: ArrayBufferView): Uint8Array => new BytesClass(view.buffer, view.byteOffset, view.byteLength);
    apply(setBytes, bytes(target), [bytes(contents)]);
    return true;
  }

  /** Whether the prototype shows that an object is more than its properties. */
  function isExotic(target: object): boolean {
    for (const { prototype } of [
      Map,
      Set,
      Date,
      RegExp,
      ArrayBuffer,
      Promise,
      WeakMap,
      WeakSet,
      WeakRef,
      Error,
      Number,
      String,
      Boolean,
      BigInt,
      Symbol,
    ])
      if (isOf(prototype, target)) return true;
    return isArray(target) || isView(target);
  }

  return (target, contents) => {
    if (typeof target !== "object" || typeof contents !== "object" || target === null || contents === null)
      return false;
    try {
      if (isArray(target) || isArray(contents))
        return isArray(target) && isArray(contents) && updateArray(target, contents);
      return updateOther(target, contents);
    } catch {
      return false; // The object is not of the class of its prototype, or it is a proxy that rejects changes.
    }
  };
}
