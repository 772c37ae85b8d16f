// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { makeWeb, ParseUrl } from "./web.ts";

/** Installs the globals of `makeWeb`, each made on first use. */
export function installWeb(make: typeof makeWeb, parseUrl: ParseUrl): void {
  const { defineProperty } = Object;
  let made: ReturnType<typeof makeWeb> | undefined;
  for (const name of ["URL", "URLSearchParams", "TextEncoder", "TextDecoder", "atob", "btoa"]) {
    const set = (value: unknown): void =>
      void defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true });
    const get = (): unknown => {
      made ??= make(parseUrl);
      const value = made[name]?.();
      set(value);
      return value;
    };
    defineProperty(globalThis, name, { get, set, configurable: true, enumerable: false });
  }
}
