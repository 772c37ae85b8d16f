import type { ConfigPath } from "../source-text.ts";

type Node = Record<string | number, unknown>;

/** Configuration that is built from another one key by key, with the place that each key comes from. */
export class Rewrite {
  readonly value: Record<string, unknown>;
  readonly #origins = new Map<string, ConfigPath>();

  /** @param value keys that remain at their places */
  constructor(value: Readonly<Record<string, unknown>>) {
    this.value = structuredClone(value);
  }

  /** Sets a value, and creates objects around it. Does nothing if the place has a value or the new one is missing or null. Returns whether it was set. */
  set(path: ConfigPath, value: unknown, from: ConfigPath): boolean {
    if (value === undefined || value === null) return false;
    let parent = this.value as Node;
    for (const segment of path.slice(0, -1)) {
      if (!Object.hasOwn(parent, segment) || parent[segment] === undefined) parent[segment] = {};
      parent = parent[segment] as Node;
    }
    const key = path.at(-1) as string | number;
    if (Object.hasOwn(parent, key) && parent[key] !== undefined) return false;
    Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true });
    this.setOrigin(path, from);
    return true;
  }

  /** Records the place that a value, and all inside it, comes from. */
  setOrigin(path: ConfigPath, from: ConfigPath): void {
    this.#origins.set(JSON.stringify(path), from);
  }

  /** Returns the origin of the innermost value around a path whose origin is known, and the rest of the path below it. */
  originOf(path: ConfigPath): { readonly origin: ConfigPath; readonly rest: ConfigPath } {
    for (let length = path.length; length > 0; length--) {
      const origin = this.#origins.get(JSON.stringify(path.slice(0, length)));
      if (origin !== undefined) return { origin, rest: path.slice(length) };
    }
    return { origin: path, rest: [] };
  }
}
