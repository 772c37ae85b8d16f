/** All built-in objects of a realm, with their keys and values. */
export class Intrinsics {
  readonly objects: ReadonlyMap<object, ReadonlyMap<PropertyKey, PropertyDescriptor>>;

  constructor() {
    const objects = new Map<object, Map<PropertyKey, PropertyDescriptor>>();
    const generators = [function* () {}, async function* () {}, async () => {}];
    const iterators = [
      [].values(),
      new Map().keys(),
      new Set().keys(),
      "".matchAll(/a/g),
      ""[Symbol.iterator](),
      generators[0]?.(),
      Promise.resolve(),
    ];
    const names = Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z][A-Za-z]+\d*(?:Array)?$/.test(name));
    const waiting: unknown[] = [
      ...generators,
      ...iterators,
      ...names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name)?.value as unknown),
    ];
    for (let object = waiting.pop(); waiting.length > 0; object = waiting.pop()) {
      if (
        (typeof object !== "object" && typeof object !== "function") ||
        object === null ||
        objects.has(object) ||
        object === globalThis
      )
        continue;
      const own = new Map(
        Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key) as PropertyDescriptor]),
      );
      objects.set(object, own);
      waiting.push(Object.getPrototypeOf(object));
      for (const { value, get, set } of own.values()) waiting.push(value, get, set);
    }
    this.objects = objects;
  }

  /** Returns the prototypes among them. */
  prototypes(): object[] {
    return [...this.objects]
      .filter(([object, own]) => typeof object === "object" && own.has("constructor"))
      .map(([object]) => object);
  }

  /** Returns the keys and values that changed. */
  changes(): string[] {
    const found: string[] = [];
    for (const [object, before] of this.objects) {
      const keys = Reflect.ownKeys(object);
      if (keys.length !== before.size)
        found.push(
          `${String(before.get("constructor")?.value)} has other keys: ${keys
            .filter((key) => !before.has(key))
            .map(String)
            .join(", ")}`,
        );
      for (const [key, { value, get, set }] of before) {
        const now = Object.getOwnPropertyDescriptor(object, key);
        // Legacy properties of functions (`arguments`, `RegExp.$1`) change with each call.
        if (typeof object === "function" && typeof value !== "function") continue;
        if (!Object.is(now?.value, value) || now?.get !== get || now?.set !== set)
          found.push(`another value of ${String(key)}`);
      }
    }
    return found;
  }
}
