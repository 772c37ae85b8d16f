// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { DeepEqual } from "./deep-equal.ts";
import type { Inspector } from "./inspector.ts";

export interface ProgramInput {
  readonly file: string;
  readonly stdin: string;
  readonly arguments: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** Files to return at the end. */
  readonly fetchFiles?: readonly string[];
}

/** Environment of a program that was written for Node. */
export interface Program {
  /** Sets the input, before the program runs. */
  begin(input: ProgramInput): void;
  file(): string;
  /** Returns the texts of the files to return, by path, as JSON. */
  fetched(): string;
  readonly module: { exports: unknown };
  readonly require: (name: string) => unknown;
  /** Returns a module of Node, by its name with or without `node:`; `undefined` if there is none. */
  builtin(name: string): object | undefined;
}

/**
 * Installs `process`, and `require` for the modules of Node that programs which solve problems use: standard input, files in memory, lines,
 * assertions, inspection. All of it uses only the memory of this isolate.
 */
export function installProgram(
  parent: { write(stream: "stdout" | "stderr", text: string): void; exit(code: number): void },
  inspector: Inspector,
  deepEqual: DeepEqual,
  {
    makeAssert,
    makeEvents,
  }: {
    readonly makeAssert: (inspector: Inspector, deepEqual: DeepEqual) => unknown;
    readonly makeEvents: () => unknown;
  },
): Program {
  type Listener = (...args: unknown[]) => void;
  const global = globalThis as Record<string, unknown>;
  const files = new Map<string, string>();
  const loaded = new Map<string, { exports: unknown }>();
  const soon = global["setImmediate"] as (callback: () => void) => void;
  // oxlint-disable-next-line no-eval -- the submission's own files, in the submission's isolate
  const evaluate = eval;
  let input: ProgramInput | undefined;
  let started = 0;
  let unread = "";

  /** Makes a function that calls `make` once, on first use. */
  function once<T>(make: () => T): () => T {
    let made: T | undefined;
    return () => (made ??= make());
  }

  function normal(path: unknown): string {
    const parts: string[] = [];
    for (const part of String(path).split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return parts.join("/");
  }

  function missing(path: unknown, call: string): Error {
    return Object.assign(new Error(`ENOENT: no such file or directory, ${call} '${String(path)}'`), { code: "ENOENT" });
  }

  const isStdin = (path: unknown): boolean => path === 0 || path === "/dev/stdin" || path === "/proc/self/fd/0";

  function takeStdin(): string {
    const text = unread;
    unread = "";
    return text;
  }

  interface Emitter {
    on(name: string, listener: Listener): unknown;
    emit(name: string, ...args: unknown[]): boolean;
    listenerCount(name: string): number;
  }

  /** Makes an emitter; `listened` is called with the name of each event that gets a listener. */
  function emitter(listened?: (name: unknown) => void): Emitter {
    const self = new (events() as new () => Emitter)();
    if (listened !== undefined) self.on("newListener", listened);
    return self;
  }

  function makeStdin(): unknown {
    let isFlowing = false;
    const stdin = emitter(
      (name) => void (name === "data" || name === "readable" || name === "end" ? flow() : undefined),
    );
    const flow = (): unknown => {
      if (!isFlowing) {
        isFlowing = true;
        soon(() => {
          if (unread !== "") stdin.emit("readable");
          stdin.emit("readable"); // Reports the end.
          const text = stdin.listenerCount("data") > 0 ? takeStdin() : "";
          if (text !== "") stdin.emit("data", text);
          stdin.emit("end");
          stdin.emit("close");
        });
      }
      return stdin;
    };
    return Object.assign(stdin, {
      fd: 0,
      isTTY: false,
      setEncoding: () => stdin,
      resume: flow,
      pause: () => stdin,
      read: () => takeStdin() || null,
      async *[Symbol.asyncIterator]() {
        const text = takeStdin();
        if (text !== "") yield text;
      },
    });
  }

  function lines(): string[] {
    const text = takeStdin();
    if (text === "") return [];
    return (text.endsWith("\n") ? text.slice(0, -1) : text)
      .split("\n")
      .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  }

  function createInterface(): unknown {
    const reader = emitter((name) => void (name === "line" ? soon(pump) : undefined)) as Emitter & { close(): void };
    const waiting: ((line: string) => void)[] = [];
    let rest: string[] | undefined;
    let isClosed = false;
    const pump = (): void => {
      rest ??= lines();
      const resolve = waiting.shift();
      if (isClosed) return;
      if (rest.length === 0) return reader.close();
      const line = rest.shift() as string;
      if (resolve === undefined) reader.emit("line", line);
      else resolve(line);
      if (resolve === undefined || waiting.length > 0) soon(pump);
    };
    return Object.assign(reader, {
      question(prompt: string, options: unknown, callback: unknown = options) {
        parent.write("stdout", String(prompt));
        if (typeof callback !== "function") return new Promise((resolve) => (waiting.push(resolve), soon(pump)));
        waiting.push(callback as (line: string) => void);
        soon(pump);
        return undefined;
      },
      close() {
        if (!isClosed) reader.emit("close");
        isClosed = true;
      },
      setPrompt() {},
      prompt() {},
      pause: () => reader,
      resume: () => reader,
      async *[Symbol.asyncIterator]() {
        yield* rest ?? lines();
      },
    });
  }

  function readFile(path: unknown): string {
    if (isStdin(path)) return takeStdin();
    const text = files.get(normal(path));
    if (text === undefined) throw missing(path, "open");
    return text;
  }

  function writeFile(path: unknown, text: unknown): void {
    if (path === 1 || path === "/dev/stdout") parent.write("stdout", String(text));
    else if (path === 2 || path === "/dev/stderr") parent.write("stderr", String(text));
    else files.set(normal(path), String(text));
  }

  const streamTo = (stream: "stdout" | "stderr"): unknown => ({
    fd: stream === "stdout" ? 1 : 2,
    isTTY: false,
    write: (text: unknown, encoding?: unknown, callback: unknown = encoding) => {
      parent.write(stream, String(text));
      if (typeof callback === "function") soon(callback as () => void);
      return true;
    },
    end: (text?: unknown) => void (text === undefined || parent.write(stream, String(text))),
    on: () => undefined,
    once: () => undefined,
  });

  const fs = once(() => ({
    readFileSync: readFile,
    existsSync: (path: unknown) => isStdin(path) || files.has(normal(path)),
    readdirSync: () => [...files.keys()],
    writeFileSync: writeFile,
    appendFileSync: (path: unknown, text: unknown) =>
      files.set(normal(path), (files.get(normal(path)) ?? "") + String(text)),
    unlinkSync: (path: unknown) => void files.delete(normal(path)),
    writeSync: writeFile,
    readFile: (path: unknown, options: unknown, callback: unknown = options) =>
      soon(() => {
        let text: string;
        try {
          text = readFile(path);
        } catch (error) {
          return (callback as Listener)(error);
        }
        (callback as Listener)(null, text);
      }),
    promises: {
      readFile: async (path: unknown) => readFile(path),
      writeFile: async (path: unknown, text: unknown) => writeFile(path, text),
    },
  }));
  const process = once(() => {
    const elapsed = (): number => Date.now() - started;
    const hrtime = Object.assign(() => [Math.floor(elapsed() / 1000), (elapsed() % 1000) * 1e6], {
      bigint: () => BigInt(elapsed()) * 1_000_000n,
    });
    const self = Object.assign(emitter(), {
      argv: ["node", file(), ...(input?.arguments ?? [])],
      env: {},
      exitCode: undefined as number | undefined,
      exit: (code?: number) => parent.exit(Number(code ?? self.exitCode ?? 0)),
      cwd: () => "/",
      platform: "linux",
      stdin: makeStdin(),
      stdout: streamTo("stdout"),
      stderr: streamTo("stderr"),
      hrtime,
      uptime: () => elapsed() / 1000,
      nextTick: (callback: Listener, ...args: unknown[]) =>
        (global["queueMicrotask"] as (task: () => void) => void)(() => callback(...args)),
      memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
    });
    return self;
  });
  function makeUtil(): object {
    const is = (constructor: unknown) => (value: unknown) => value instanceof (constructor as new () => unknown);
    const inspect = (value: unknown, ...options: unknown[]): string => inspector.inspect(value, ...options);
    return {
      inspect: Object.assign(inspect, { custom: Symbol.for("nodejs.util.inspect.custom") }),
      format: inspector.format,
      isDeepStrictEqual: (left: unknown, right: unknown) => deepEqual(left, right, "strict"),
      promisify: (run: Listener) =>
        run === global["setTimeout"]
          ? sleep
          : function (this: unknown, ...args: unknown[]) {
              return new Promise((resolve, reject) =>
                Reflect.apply(run, this, [
                  ...args,
                  (error: unknown, value: unknown) => (error ? reject(error) : resolve(value)),
                ]),
              );
            },
      inherits: (child: { prototype: object }, parent: { prototype: object }) =>
        void Object.setPrototypeOf(child.prototype, parent.prototype),
      deprecate: <T>(run: T) => run,
      types: {
        isPromise: is(Promise),
        isDate: is(Date),
        isRegExp: is(RegExp),
        isMap: is(Map),
        isSet: is(Set),
        isNativeError: is(Error),
        isTypedArray: is(Object.getPrototypeOf(Uint8Array)),
      },
      TextEncoder: global["TextEncoder"],
      TextDecoder: global["TextDecoder"],
    };
  }

  const sleep = (ms?: number, value?: unknown): Promise<unknown> =>
    new Promise((resolve) => (global["setTimeout"] as Listener)(resolve, ms, value));
  const events = once(makeEvents);
  const performance = once(() => ({ now: () => Date.now() - started, timeOrigin: started }));
  const assert = once(() => makeAssert(inspector, deepEqual) as { readonly strict: unknown });
  const readline = once(() => ({ createInterface, promises: { createInterface } }));
  const builtins: Record<string, () => unknown> = {
    assert,
    "assert/strict": () => assert().strict,
    fs,
    "fs/promises": () => fs().promises,
    process,
    readline,
    "readline/promises": () => readline().promises,
    util: once(makeUtil),
    events,
    os: once(() => ({ EOL: "\n", platform: () => "linux" })),
    url: once(() => ({ URL: global["URL"], URLSearchParams: global["URLSearchParams"] })),
    perf_hooks: once(() => ({ performance: performance() })),
    timers: once(() => ({
      setTimeout: global["setTimeout"],
      setInterval: global["setInterval"],
      setImmediate: soon,
      clearTimeout: global["clearTimeout"],
    })),
    "timers/promises": once(() => ({
      setTimeout: sleep,
      setImmediate: (value?: unknown) => new Promise((resolve) => soon(() => resolve(value))),
    })),
  };

  function builtin(name: string): object | undefined {
    const plain = String(name).replace(/^node:/, "");
    return Object.hasOwn(builtins, plain) ? ((builtins[plain] as () => unknown)() as object) : undefined;
  }

  function require(name: string): unknown {
    const found = builtin(name);
    if (found !== undefined) return found;
    const path = [normal(name), `${normal(name)}.js`, `${normal(name)}.ts`, `${normal(name)}.json`].find((candidate) =>
      files.has(candidate),
    );
    if (path === undefined || !/^\.{0,2}\//.test(name))
      throw Object.assign(new Error(`Cannot find module '${name}'`), { code: "MODULE_NOT_FOUND" });
    const known = loaded.get(path);
    if (known !== undefined) return known.exports;
    const module: { exports: unknown } = { exports: {} };
    loaded.set(path, module);
    const text = files.get(path) as string;
    if (path.endsWith(".json")) module.exports = JSON.parse(text);
    else
      (
        evaluate(
          `(function (exports, require, module, __filename, __dirname) {${text}\n})\n//# sourceURL=./${path}`,
        ) as Listener
      ).call(module.exports, module.exports, require, module, path, ".");
    return module.exports;
  }

  const module = { exports: {} as unknown };
  require.main = module;
  const define = (name: string, value: unknown): unknown =>
    Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: false, writable: true });
  for (const [name, make] of Object.entries({ process, performance })) {
    Object.defineProperty(globalThis, name, {
      get() {
        define(name, make());
        return make();
      },
      set(value: unknown) {
        define(name, value);
      },
      configurable: true,
      enumerable: false,
    });
  }
  define("require", require);
  define("global", globalThis);

  function file(): string {
    return input?.file ?? "";
  }

  return {
    begin(given) {
      input = given;
      started = Date.now();
      unread = given.stdin;
      for (const [name, text] of Object.entries(given.files)) files.set(normal(name), text);
      for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics"]) delete global[name];
    },
    file,
    fetched() {
      const found: Record<string, string> = {};
      for (const path of input?.fetchFiles ?? []) {
        const text = files.get(normal(path));
        if (text !== undefined) found[path] = text;
      }
      return JSON.stringify(found);
    },
    module,
    require,
    builtin,
  };
}
