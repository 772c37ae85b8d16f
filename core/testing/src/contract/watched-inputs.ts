import crypto from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { locationOf } from "../check/location-of.ts";

export type InputKind = "clock" | "random numbers" | "variable" | "arguments" | "file";

/** First reading of an input by the author's code. */
export interface InputRead {
  readonly kind: InputKind;
  /** `Date.now()`, `process.env.MODE`, the path of a file. */
  readonly name: string;
  /** Its stack leads to the author's code. */
  readonly error: Error;
}

/** Values that the author's code reads in place of the real ones. */
export interface ChangedInputs {
  /** Added to every clock, in milliseconds, and again at each reading. */
  readonly clockMs?: number;
  readonly readingMs?: number;
  /** Source of `Math.random`. */
  readonly random?: () => number;
  readonly variables?: Readonly<Record<string, string | undefined>>;
  readonly arguments?: readonly string[];
  /** Path of a file that does not exist. */
  readonly missing?: string;
}

type Callable = (this: unknown, ...args: unknown[]) => unknown;

/** Frames that are looked at: the author's code can read through a library. */
const FRAMES = 30;

/**
 * Inputs of a process that no seed determines, as the code of one package reads them: clocks, random numbers, environment variables, arguments and files of
 * others. Libraries of the package count as its code; the host and other plugins do not.
 */
export class WatchedInputs {
  static #installed: WatchedInputs | undefined;
  readonly #directory: string;
  readonly #reads = new Map<string, InputRead>();
  #isWatching = false;
  #isCopying = false;
  #changed: ChangedInputs = {};
  #readings = 0;

  private constructor(directory: string) {
    this.#directory = fs.realpathSync(directory) + sep;
  }

  /** Replaces the functions that read inputs, for the rest of the process. Call it before the package is imported, which can keep references. */
  static install(directory: string): WatchedInputs {
    const inputs = new WatchedInputs(directory);
    WatchedInputs.#installed = inputs;
    inputs.#replaceClocks();
    inputs.#replaceRandom();
    inputs.#replaceProcess();
    inputs.#replaceFiles();
    syncBuiltinESMExports();
    return inputs;
  }

  /** Returns the watched inputs of this process; `undefined` where it does more than check a package. */
  static installed(): WatchedInputs | undefined {
    return WatchedInputs.#installed;
  }

  /** First readings since {@link watch}. */
  get reads(): readonly InputRead[] {
    return [...this.#reads.values()];
  }

  /** Begins to record readings, and to change what is read. */
  watch(changed: ChangedInputs = {}): void {
    this.#changed = changed;
    this.#isWatching = true;
    this.#readings = 0;
  }

  /** Ends {@link watch}, and forgets the readings. */
  rest(): void {
    this.#isWatching = false;
    this.#changed = {};
    this.#reads.clear();
  }

  /** Whether the author's code reads this input now. Records the reading. */
  #isRead(kind: InputKind, name: string, above: Callable): boolean {
    if (!this.#isWatching) return false;
    const key = `${kind} ${name}`;
    // A stack takes time, and an episode can draw many numbers.
    if (kind === "random numbers" && this.#reads.has(key)) return true;
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = FRAMES;
    const error = new Error(name);
    Error.captureStackTrace(error, above);
    const { stack = "" } = error;
    Error.stackTraceLimit = stackTraceLimit;
    if (!this.#isOwn(stack)) return false;
    if (!this.#reads.has(key)) this.#reads.set(key, { kind, name, error });
    return true;
  }

  #isOwn(stack: string): boolean {
    for (const line of stack.split("\n").slice(1)) {
      if (line.includes("node:")) return false;
      const path = locationOf(line)?.path;
      if (path === undefined) continue;
      const file = path.startsWith("file:") ? fileURLToPath(path) : path;
      const isLibrary = file.includes(`${sep}node_modules${sep}`);
      if (!isLibrary) return file.startsWith(this.#directory);
      if (file.includes(`${sep}node_modules${sep}@mrlm${sep}`)) return false;
    }
    return false;
  }

  #replaceClocks(): void {
    const now = (name: string, ms: number, above: Callable): number => {
      if (!this.#isRead("clock", name, above)) return ms;
      const { clockMs = 0, readingMs = 0 } = this.#changed;
      return ms + clockMs + readingMs * this.#readings++;
    };
    const Original = Date;
    const dateNow: Callable = () => now("Date.now()", Original.now(), dateNow);
    const construct = (target: DateConstructor, args: [], newTarget: typeof Date): object => {
      const given = args.length > 0 ? args : [now("new Date()", Original.now(), construct as Callable)];
      return Reflect.construct(target, given, newTarget) as object;
    };
    const apply = (): string => new Original(now("Date()", Original.now(), apply)).toString();
    Object.defineProperty(globalThis, "Date", {
      ...Object.getOwnPropertyDescriptor(globalThis, "Date"),
      value: new Proxy(Original, {
        apply,
        construct: construct as NonNullable<ProxyHandler<DateConstructor>["construct"]>,
        get: (target, key) => (key === "now" ? dateNow : (Reflect.get(target, key) as unknown)),
      }),
    });
    const of = performance;
    replace(of, "now", (original) => {
      const replaced: Callable = () => now("performance.now()", original.call(of) as number, replaced);
      return replaced;
    });
    replace(process, "hrtime", (original) => {
      const bigint = (original as unknown as typeof process.hrtime).bigint;
      const asBigint: Callable = () => bigint() + BigInt(now("process.hrtime.bigint()", 0, asBigint)) * 1_000_000n;
      const replaced: Callable = (...args) => {
        const [seconds, rest] = original.apply(process, args) as [number, number];
        return [seconds + Math.floor(now("process.hrtime()", 0, replaced) / 1_000), rest];
      };
      return Object.assign(replaced, { bigint: asBigint });
    });
  }

  #replaceRandom(): void {
    replace(Math, "random", (original) => {
      const replaced: Callable = () =>
        (this.#isRead("random numbers", "Math.random()", replaced) && this.#changed.random?.()) || original();
      return replaced;
    });
    const noted = (owner: object, name: string): void =>
      replace(owner, name, (original) => {
        const replaced: Callable = (...args) => {
          this.#isRead("random numbers", `${name}()`, replaced);
          return original.apply(owner, args);
        };
        return replaced;
      });
    for (const name of ["getRandomValues", "randomUUID"]) noted(globalThis.crypto, name);
    for (const name of ["randomUUID", "randomBytes", "randomInt", "randomFillSync"]) noted(crypto, name);
  }

  #replaceProcess(): void {
    const variable: Callable = (target, key) => {
      const value = Reflect.get(target as object, key as string) as unknown;
      if (typeof key !== "string" || this.#isCopying || SYSTEM.test(key)) return value;
      if (!this.#isRead("variable", `process.env.${key}`, variable)) return value;
      const { variables = {} } = this.#changed;
      return Object.hasOwn(variables, key) ? variables[key] : value;
    };
    const env = new Proxy(process.env, {
      get: variable as NonNullable<ProxyHandler<NodeJS.ProcessEnv>["get"]>,
      set: (target, key, value) => Reflect.set(target, key, value),
      // The environment of a child process is a copy of all variables.
      ownKeys: (target) => {
        this.#isCopying = true;
        queueMicrotask(() => (this.#isCopying = false));
        return Reflect.ownKeys(target);
      },
    });
    Object.defineProperty(process, "env", { value: env, writable: true, enumerable: true, configurable: true });
    const { argv } = process;
    const read = (): readonly string[] =>
      (this.#isRead("arguments", "process.argv", read) && this.#changed.arguments) || argv;
    Object.defineProperty(process, "argv", { get: read, enumerable: true, configurable: true });
  }

  #replaceFiles(): void {
    for (const [owner, names] of FILE_READERS)
      for (const name of names)
        replace(owner, name, (original) => {
          const replaced: Callable = (...args) => {
            const path = this.#isWatching ? pathOf(args[0]) : undefined;
            if (path !== undefined && this.#isOfOthers(path) && this.#isRead("file", path, replaced))
              if (path === this.#changed.missing) return withoutFile(path, owner !== fs, args.at(-1));
            return original.apply(owner, args);
          };
          return replaced;
        });
  }

  /** Whether a file belongs neither to the package nor to its project, and was there before this process. */
  #isOfOthers(path: string): boolean {
    const own = [this.#directory, process.cwd() + sep, tmpdir() + sep, `${sep}node_modules${sep}`];
    if (own.some((part) => `${path}${sep}`.includes(part))) return false;
    return (stat(path, { throwIfNoEntry: false })?.birthtimeMs ?? 0) < performance.timeOrigin;
  }
}

const { statSync: stat } = fs;

const FILE_READERS = [
  [fs, ["readFileSync", "readFile", "readdirSync", "openSync", "createReadStream"]],
  [fs.promises, ["readFile", "readdir", "open"]],
] as const;

/** Variables of the system, which programs need to find each other and their folders. */
const SYSTEM = /^(PATH|HOME|TMPDIR|TMP|TEMP|SHELL|USER|LOGNAME|PWD|LANG|TZ|TERM|LC_.*|NODE_.*|npm_.*|JEST_.*|MRLM_.*)$/;

function replace(owner: object, name: string, make: (original: Callable) => Callable): void {
  const original = Reflect.get(owner, name) as Callable;
  Object.defineProperty(owner, name, {
    value: make(original),
    writable: true,
    configurable: true,
    enumerable: Object.getOwnPropertyDescriptor(owner, name)?.enumerable ?? false,
  });
}

function pathOf(given: unknown): string | undefined {
  if (given instanceof URL) return given.protocol === "file:" ? fileURLToPath(given) : undefined;
  return typeof given === "string" ? resolve(given) : undefined;
}

/** Fails as a function of node:fs does where there is no file. */
function withoutFile(path: string, isAsync: boolean, last: unknown): unknown {
  const error = Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: "ENOENT", path });
  if (isAsync) return Promise.reject(error);
  if (typeof last !== "function") throw error;
  return void process.nextTick(last as (error: Error) => void, error);
}
