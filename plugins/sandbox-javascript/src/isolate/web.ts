// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.

/**
 * Parses a URL outside of the isolate. Takes `[input, base, property, value]` as JSON text, and returns the components as JSON text, "" if the input
 * is not a URL. A `property` other than "" is set to `value`.
 */
export type ParseUrl = (argsText: string) => string;

/** Returns functions that make `URL`, `URLSearchParams`, `TextEncoder`, `TextDecoder`, `atob` and `btoa`. */
export function makeWeb(parseText: ParseUrl): Readonly<Record<string, () => unknown>> {
  const { defineProperty } = Object;
  const { parse, stringify } = JSON;
  const parseUrl = (...args: readonly [input: string, base: string, property: string, value: string]): string =>
    parseText(stringify(args));
  const KEYS = [
    "href",
    "origin",
    "protocol",
    "username",
    "password",
    "host",
    "hostname",
    "port",
    "pathname",
    "search",
    "hash",
  ];
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  function once<T>(make: () => T): () => T {
    let made: T | undefined;
    return () => (made ??= make());
  }

  function coded<E extends Error>(error: E, code: string, more: object = {}): E {
    return Object.assign(error, { code, ...more });
  }

  function utf8Of(text: string): Uint8Array<ArrayBuffer> {
    const escaped = encodeURIComponent(text.toWellFormed());
    const bytes: number[] = [];
    for (let i = 0; i < escaped.length; i++) {
      if (escaped[i] !== "%") bytes.push(escaped.charCodeAt(i));
      else {
        bytes.push(Number.parseInt(escaped.slice(i + 1, i + 3), 16));
        i += 2;
      }
    }
    return new Uint8Array(bytes);
  }

  /** Decodes UTF-8 with U+FFFD for each maximal invalid part of a sequence. `rest`: bytes of an incomplete character. */
  function fromUtf8(bytes: Uint8Array, isLast: boolean): { text: string; isValid: boolean; rest: number[] } {
    let text = "";
    let isValid = true;
    let pending: number[] = [];
    let [needed, code, low, high] = [0, 0, 0x80, 0xbf];
    const replace = (): void => {
      text += "\uFFFD";
      isValid = false;
      [needed, pending] = [0, []];
    };
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (needed > 0 && (byte < low || byte > high)) replace();
      if (needed === 0) {
        [low, high] = [
          byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80,
          byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf,
        ];
        needed =
          byte < 0x80
            ? 0
            : byte >= 0xc2 && byte <= 0xdf
              ? 1
              : byte >= 0xe0 && byte <= 0xef
                ? 2
                : byte >= 0xf0 && byte <= 0xf4
                  ? 3
                  : -1;
        if (needed === 0) text += String.fromCharCode(byte);
        else if (needed < 0) replace();
        else [code, pending] = [byte & (0x3f >> needed), [byte]];
        continue;
      }
      [low, high, code] = [0x80, 0xbf, (code << 6) | (byte & 0x3f)];
      pending.push(byte);
      needed -= 1;
      if (needed > 0) continue;
      text += String.fromCodePoint(code);
      pending = [];
    }
    if (isLast && needed > 0) replace();
    return { text, isValid, rest: pending };
  }

  const encoding = once(() => {
    class TextEncoder {
      get encoding(): string {
        return "utf-8";
      }
      encode(text: unknown = ""): Uint8Array {
        return utf8Of(String(text));
      }
      encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
        let [read, written] = [0, 0];
        for (const character of String(text)) {
          const bytes = utf8Of(character);
          if (written + bytes.length > target.length) break;
          target.set(bytes, written);
          [read, written] = [read + character.length, written + bytes.length];
        }
        return { read, written };
      }
    }
    class TextDecoder {
      readonly encoding: string;
      readonly fatal: boolean;
      readonly ignoreBOM: boolean;
      #rest: number[] = [];
      #isStarted = false;
      constructor(
        label: unknown = "utf-8",
        { fatal = false, ignoreBOM = false }: { fatal?: boolean; ignoreBOM?: boolean } = {},
      ) {
        const name = String(label).trim().toLowerCase();
        if (!/^(?:unicode-1-1-)?utf-?8$|^utf-16(?:le)?$/.test(name))
          throw coded(new RangeError(`The "${String(label)}" encoding is not supported`), "ERR_ENCODING_NOT_SUPPORTED");
        [this.encoding, this.fatal, this.ignoreBOM] = [
          name.startsWith("utf-16") ? "utf-16le" : "utf-8",
          Boolean(fatal),
          Boolean(ignoreBOM),
        ];
      }
      decode(
        input: ArrayBuffer | ArrayBufferView = new Uint8Array(),
        { stream = false }: { stream?: boolean } = {},
      ): string {
        const given = ArrayBuffer.isView(input)
          ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
          : new Uint8Array(input);
        const bytes = new Uint8Array([...this.#rest, ...given]);
        const { text, isValid, rest } =
          this.encoding === "utf-8" ? fromUtf8(bytes, !stream) : fromUtf16(bytes, !stream);
        if (this.fatal && !isValid)
          throw coded(
            new TypeError(`The encoded data was not valid for encoding ${this.encoding}`),
            "ERR_ENCODING_INVALID_ENCODED_DATA",
          );
        const isFirst = !this.#isStarted;
        [this.#rest, this.#isStarted] = [stream ? rest : [], stream && (this.#isStarted || text !== "")];
        return isFirst && !this.ignoreBOM && text.startsWith("\uFEFF") ? text.slice(1) : text;
      }
    }
    return { TextEncoder, TextDecoder };
  });

  function fromUtf16(bytes: Uint8Array, isLast: boolean): { text: string; isValid: boolean; rest: number[] } {
    let text = "";
    const even = bytes.length - (bytes.length % 2);
    for (let i = 0; i < even; i += 2)
      text += String.fromCharCode((bytes[i] as number) | ((bytes[i + 1] as number) << 8));
    const isCut = isLast && even < bytes.length;
    const whole = `${text.toWellFormed()}${isCut ? "\uFFFD" : ""}`;
    return { text: whole, isValid: whole === text, rest: [...bytes.slice(even)] };
  }

  const urls = once(() => {
    type Pair = [string, string];
    const unescaped = (text: string): string => {
      const bytes: number[] = [];
      const escaped = utf8Of(text.replaceAll("+", " "));
      for (let i = 0; i < escaped.length; i++) {
        const hex = escaped[i] === 0x25 ? String.fromCharCode(...escaped.slice(i + 1, i + 3)) : "";
        const isEscape = /^[\da-f]{2}$/i.test(hex);
        bytes.push(isEscape ? Number.parseInt(hex, 16) : (escaped[i] as number));
        if (isEscape) i += 2;
      }
      return fromUtf8(new Uint8Array(bytes), true).text;
    };
    const escaped = (text: string): string => {
      const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
      return encodeURIComponent(text.toWellFormed())
        .replace(/[!'()~]/g, hex)
        .replaceAll("%20", "+");
    };
    const pairsOf = (text: string): Pair[] =>
      text
        .split("&")
        .filter(Boolean)
        .map((part) => {
          const at = part.indexOf("=");
          return at < 0 ? [unescaped(part), ""] : [unescaped(part.slice(0, at)), unescaped(part.slice(at + 1))];
        });

    class URLSearchParams {
      #pairs: Pair[] = [];
      /** Callback of the URL that it belongs to. */
      #changed: ((text: string) => void) | undefined;
      constructor(init: unknown = "") {
        if (typeof init === "object" && init !== null) {
          const entries =
            Symbol.iterator in init
              ? [...(init as Iterable<Iterable<unknown>>)].map((pair) => [...pair])
              : Object.entries(init);
          for (const pair of entries) {
            if (pair.length !== 2)
              throw coded(
                new TypeError("Each query pair must be an iterable [name, value] tuple"),
                "ERR_INVALID_TUPLE",
              );
            this.#pairs.push([String(pair[0]), String(pair[1])]);
          }
        } else {
          this.#pairs = pairsOf(String(init).replace(/^\?/, ""));
        }
      }
      static of(text: string, changed: (text: string) => void): URLSearchParams {
        const self = new URLSearchParams(text);
        self.#changed = changed;
        return self;
      }
      static read(self: URLSearchParams, text: string): void {
        self.#pairs = pairsOf(text.replace(/^\?/, ""));
      }
      #set(pairs: Pair[]): void {
        this.#pairs = pairs;
        this.#changed?.(this.toString());
      }
      get size(): number {
        return this.#pairs.length;
      }
      append(name: unknown, value: unknown): void {
        this.#set([...this.#pairs, [String(name), String(value)]]);
      }
      delete(name: unknown, value?: unknown): void {
        this.#set(
          this.#pairs.filter(([key, item]) => key !== String(name) || (value !== undefined && item !== String(value))),
        );
      }
      get(name: unknown): string | null {
        return this.#pairs.find(([key]) => key === String(name))?.[1] ?? null;
      }
      getAll(name: unknown): string[] {
        return this.#pairs.filter(([key]) => key === String(name)).map(([, value]) => value);
      }
      has(name: unknown, value?: unknown): boolean {
        return this.#pairs.some(
          ([key, item]) => key === String(name) && (value === undefined || item === String(value)),
        );
      }
      set(name: unknown, value: unknown): void {
        const first = this.#pairs.findIndex(([key]) => key === String(name));
        if (first < 0) return this.append(name, value);
        this.#set(
          this.#pairs.flatMap((pair, index): Pair[] =>
            index === first ? [[pair[0], String(value)]] : pair[0] === String(name) ? [] : [pair],
          ),
        );
      }
      sort(): void {
        this.#set(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
      }
      forEach(callback: (value: string, name: string, self: URLSearchParams) => void, receiver?: unknown): void {
        for (const [name, value] of this.#pairs) callback.call(receiver, value, name, this);
      }
      *keys(): IterableIterator<string> {
        for (const [name] of this.#pairs) yield name;
      }
      *values(): IterableIterator<string> {
        for (const [, value] of this.#pairs) yield value;
      }
      *entries(): IterableIterator<Pair> {
        for (const [name, value] of this.#pairs) yield [name, value];
      }
      [Symbol.iterator](): IterableIterator<Pair> {
        return this.entries();
      }
      toString(): string {
        return this.#pairs.map(([name, value]) => `${escaped(name)}=${escaped(value)}`).join("&");
      }
      get [Symbol.toStringTag](): string {
        return "URLSearchParams";
      }
    }
    const { of, read } = URLSearchParams;
    for (const name of ["of", "read"]) Reflect.deleteProperty(URLSearchParams, name);

    class URL {
      #parts: readonly string[];
      #query: URLSearchParams | undefined;
      constructor(input: unknown, base?: unknown) {
        const text = parseUrl(String(input), base === undefined ? "" : String(base), "", "");
        if (text === "") {
          throw coded(new TypeError("Invalid URL"), "ERR_INVALID_URL", {
            input: String(input),
            ...(base === undefined ? {} : { base: String(base) }),
          });
        }
        this.#parts = parse(text) as string[];
      }
      static parse(input: unknown, base?: unknown): URL | null {
        return URL.canParse(input, base) ? new URL(input, base) : null;
      }
      static canParse(input: unknown, base?: unknown): boolean {
        return parseUrl(String(input), base === undefined ? "" : String(base), "", "") !== "";
      }
      static part(self: URL, key: string): string {
        return self.#parts[KEYS.indexOf(key)] as string;
      }
      static change(self: URL, key: string, value: string): void {
        const text = parseUrl(self.#parts[0] as string, "", key, value);
        if (text === "") throw coded(new TypeError("Invalid URL"), "ERR_INVALID_URL", { input: value });
        self.#parts = parse(text) as string[];
        if (self.#query !== undefined && (key === "href" || key === "search")) read(self.#query, self.search);
      }
      get searchParams(): URLSearchParams {
        this.#query ??= of(this.search, (text) => {
          this.#parts = parse(parseUrl(this.#parts[0] as string, "", "search", text)) as string[];
        });
        return this.#query;
      }
      declare readonly search: string;
      toString(): string {
        return this.#parts[0] as string;
      }
      toJSON(): string {
        return this.#parts[0] as string;
      }
      get [Symbol.toStringTag](): string {
        return "URL";
      }
    }
    const { part, change } = URL;
    for (const name of ["part", "change"]) Reflect.deleteProperty(URL, name);
    for (const key of KEYS) {
      const get = function (this: URL): string {
        return part(this, key);
      };
      const set = function (this: URL, value: unknown): void {
        change(this, key, String(value));
      };
      defineProperty(URL.prototype, key, {
        get,
        ...(key === "origin" ? {} : { set }),
        configurable: true,
        enumerable: true,
      });
    }
    return { URL, URLSearchParams };
  });

  function invalidCharacter(): Error {
    const error = new Error("The string to be decoded is not correctly encoded.");
    return defineProperty(error, "name", { value: "InvalidCharacterError", configurable: true });
  }

  function btoa(given: unknown): string {
    const text = String(given);
    let out = "";
    for (let i = 0; i < text.length; i += 3) {
      const codes = [0, 1, 2].map((offset) => text.charCodeAt(i + offset));
      if (codes.some((code) => code > 255)) throw invalidCharacter();
      const bits = ((codes[0] as number) << 16) | ((codes[1] as number) << 8) | (codes[2] as number);
      const characters = [18, 12, 6, 0].map((shift) => ALPHABET[(bits >> shift) & 63] as string);
      const left = text.length - i;
      out += left >= 3 ? characters.join("") : `${characters.slice(0, left + 1).join("")}${"=".repeat(3 - left)}`;
    }
    return out;
  }

  function atob(given: unknown): string {
    let text = String(given).replace(/[\t\n\f\r ]/g, "");
    if (text.length % 4 === 0) text = text.replace(/={1,2}$/, "");
    if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw invalidCharacter();
    let [out, bits, count] = ["", 0, 0];
    for (const character of text) {
      bits = ((bits << 6) | ALPHABET.indexOf(character)) & 0xffffff;
      count += 6;
      if (count < 8) continue;
      count -= 8;
      out += String.fromCharCode((bits >> count) & 255);
    }
    return out;
  }

  return {
    URL: () => urls().URL,
    URLSearchParams: () => urls().URLSearchParams,
    TextEncoder: () => encoding().TextEncoder,
    TextDecoder: () => encoding().TextDecoder,
    atob: () => atob,
    btoa: () => btoa,
  };
}
