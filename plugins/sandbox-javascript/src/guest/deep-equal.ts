// Runs inside an isolate: the text of this function is what goes there, so it uses nothing of this module.

/** Structural equality. `strict`: primitives by Object.is, and the same prototypes; otherwise primitives by `==`. */
export function deepEqual(left: unknown, right: unknown, strict: boolean): boolean {
  const seen: [object, object][] = [];
  const sameView = (a: ArrayBufferView, b: ArrayBufferView): boolean => {
    const [x, y] = [new Uint8Array(a.buffer, a.byteOffset, a.byteLength), new Uint8Array(b.buffer, b.byteOffset, b.byteLength)];
    return x.length === y.length && x.every((byte, index) => byte === y[index]);
  };

  function same(a: unknown, b: unknown): boolean {
    if (Object.is(a, b)) return true;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
      // oxlint-disable-next-line eqeqeq -- what `assert.equal` means by equal
      return !strict && (a == b || (a !== a && b !== b));
    }
    if (strict && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (seen.some(([x, y]) => x === a && y === b)) return true;
    seen.push([a, b]);
    const isSame = sameObjects(a, b);
    seen.pop();
    return isSame;
  }

  function sameObjects(a: object, b: object): boolean {
    if (Array.isArray(a) !== Array.isArray(b) || Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false;
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && sameKeys(a, b);
    if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
    if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b);
    if (a instanceof Error && b instanceof Error) return a.name === b.name && a.message === b.message;
    if (a instanceof Map && b instanceof Map) return a.size === b.size && [...a].every(([key, value]) => hasEntry(b, key, value));
    if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((item) => b.has(item) || [...b].some((other) => same(item, other)));
    if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b)) return sameView(a, b);
    return sameKeys(a, b);
  }

  function hasEntry(map: Map<unknown, unknown>, key: unknown, value: unknown): boolean {
    if (map.has(key)) return same(value, map.get(key));
    return typeof key === "object" && [...map].some(([otherKey, other]) => same(key, otherKey) && same(value, other));
  }

  function sameKeys(a: object, b: object): boolean {
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    return keys.every((key) => Object.hasOwn(b, key) && same(a[key as never], b[key as never]));
  }

  return same(left, right);
}
