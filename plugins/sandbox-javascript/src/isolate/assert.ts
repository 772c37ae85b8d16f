// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { DeepEqual, Mode } from "./deep-equal.ts";
import type { Inspector } from "./inspector.ts";

/** Makes the assertions of Node 24's `node:assert`, with messages that show the values. */
export function makeAssert(inspector: Inspector, deepEqual: DeepEqual): unknown {
  type Expected =
    | RegExp
    | (new (...args: never[]) => unknown)
    | ((error: unknown) => unknown)
    | object
    | string
    | undefined
    | null;
  interface Failure {
    readonly actual?: unknown;
    readonly expected?: unknown;
    readonly operator: string;
  }
  /** Result of `caught` if nothing was thrown. */
  const NOTHING = { thrown: "nothing" };
  const MAX_SHOWN = 300;
  const show = (value: unknown): string => {
    const text = inspector.inspect(value);
    return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
  };
  const coded = <E extends Error>(error: E, code: string): E => Object.assign(error, { code });

  class AssertionError extends Error {
    override readonly name = "AssertionError";
    readonly code = "ERR_ASSERTION";
    readonly generatedMessage: boolean;
    readonly actual: unknown;
    readonly expected: unknown;
    readonly operator: string;

    constructor({ message, actual, expected, operator = "fail" }: Partial<Failure> & { message?: unknown } = {}) {
      super(
        message === undefined || message === null ? `${show(actual)} ${operator} ${show(expected)}` : String(message),
      );
      this.generatedMessage = message === undefined || message === null;
      this.actual = actual;
      this.expected = expected;
      this.operator = operator;
    }
  }

  function check(condition: unknown, message: unknown, otherwise: () => string, failure: Failure): asserts condition {
    if (condition) return;
    if (message instanceof Error) throw message;
    const isGenerated = message === undefined || message === null;
    const error = new AssertionError({ ...failure, message: isGenerated ? otherwise() : message });
    throw Object.assign(error, { generatedMessage: isGenerated });
  }

  function ok(...args: unknown[]): void {
    const [value, message] = args;
    check(value, message, () => (args.length === 0 ? "No value was given" : `${show(value)} is not truthy`), {
      actual: value,
      expected: true,
      operator: "==",
    });
  }

  function compare(operator: string, holds: (actual: never, expected: never) => boolean, what = "expected") {
    return (...args: unknown[]): void => {
      if (args.length < 2)
        throw coded(new TypeError('The "actual" and "expected" arguments must be specified'), "ERR_MISSING_ARGS");
      const [actual, expected, message] = args;
      check(
        holds(actual as never, expected as never),
        message,
        () => `got ${show(actual)}, ${what} ${show(expected)}`,
        { actual, expected, operator },
      );
    };
  }

  const deep = (operator: string, mode: Mode): ((...args: unknown[]) => void) =>
    compare(operator, (a, b) => deepEqual(a, b, mode));
  const notDeep = (operator: string, mode: Mode): ((...args: unknown[]) => void) =>
    compare(operator, (a, b) => !deepEqual(a, b, mode), "expected anything but");

  function invalid(name: string, expected: string, actual: unknown): never {
    throw coded(
      new TypeError(`The "${name}" argument must be ${expected}. Received ${show(actual)}`),
      "ERR_INVALID_ARG_TYPE",
    );
  }

  function caught(run: () => unknown): unknown {
    if (typeof run !== "function") invalid("fn", "of type function", run);
    try {
      run();
    } catch (error) {
      return error;
    }
    return NOTHING;
  }

  const isThenable = (value: unknown): boolean =>
    value instanceof Promise ||
    (typeof value === "object" &&
      value !== null &&
      typeof (value as Promise<unknown>).then === "function" &&
      typeof (value as Promise<unknown>).catch === "function");

  async function rejection(run: unknown): Promise<unknown> {
    const promise = typeof run === "function" ? (run as () => unknown)() : run;
    if (!isThenable(promise)) {
      if (typeof run !== "function") invalid("promiseFn", "a function or a Promise", run);
      throw coded(
        new TypeError(`Expected a Promise to be returned from the "promiseFn" function but got ${show(promise)}`),
        "ERR_INVALID_RETURN_VALUE",
      );
    }
    try {
      await promise;
    } catch (error) {
      return error;
    }
    return NOTHING;
  }

  /** Compares each property of an expected object; of an error also name and message. */
  function hasProperties(error: unknown, expected: object): boolean {
    if (typeof error !== "object" || error === null) return false;
    const keys = Object.keys(expected);
    if (expected instanceof Error) keys.push("name", "message");
    else if (keys.length === 0)
      throw coded(new TypeError("The argument 'error' may not be an empty object"), "ERR_INVALID_ARG_VALUE");
    return keys.every((key) => {
      const [actual, wanted] = [(error as Record<string, unknown>)[key], (expected as Record<string, unknown>)[key]];
      if (typeof actual === "string" && wanted instanceof RegExp && wanted.exec(actual) !== null) return true;
      return key in error && deepEqual(actual, wanted, "strict");
    });
  }

  /** Checks by a class, a pattern or a function of the test; `undefined` if `expected` is none of them. */
  function satisfies(error: unknown, expected: Exclude<Expected, string | undefined | null>): boolean | undefined {
    if (expected instanceof RegExp) return expected.exec(String(error)) !== null;
    if (typeof expected !== "function") return undefined;
    if (expected.prototype !== undefined && error instanceof expected) return true;
    return Object.prototype.isPrototypeOf.call(Error, expected)
      ? false
      : (expected as (error: unknown) => unknown).call({}, error) === true;
  }

  function expectError(operator: string, error: unknown, args: readonly unknown[]): void {
    let [expected, message] = args as [Expected, unknown];
    if (typeof expected === "string") {
      if (args.length > 1) invalid("error", "an object, an Error, a function or a regular expression", expected);
      const actual = typeof error === "object" && error !== null ? (error as Error).message : error;
      if (actual === expected)
        throw coded(
          new TypeError(
            `The "error/message" argument is ambiguous. The error message ${show(actual)} is identical to the message.`,
          ),
          "ERR_AMBIGUOUS_ARGUMENT",
        );
      [expected, message] = [undefined, expected];
    } else if (
      expected !== undefined &&
      expected !== null &&
      typeof expected !== "object" &&
      typeof expected !== "function"
    ) {
      invalid("error", "an object, an Error, a function or a regular expression", expected);
    }
    const failure = { actual: error === NOTHING ? undefined : error, expected, operator };
    check(error !== NOTHING, undefined, () => `nothing was thrown${message ? `: ${String(message)}` : ""}`, failure);
    if (!expected) return;
    const holds = satisfies(error, expected) ?? hasProperties(error, expected);
    const isCompared =
      typeof expected === "object" && !(expected instanceof RegExp) && typeof error === "object" && error !== null;
    // An error as message is thrown if properties are compared, and converted to text otherwise.
    const text = message instanceof Error && !isCompared ? String(message) : message || undefined;
    check(holds, text, () => `what was thrown is not what was expected: ${showError(error)}`, failure);
  }

  function showError(error: unknown): string {
    return error instanceof Error ? String(error) : show(error);
  }

  function expectNone(operator: string, error: unknown, args: readonly unknown[]): void {
    if (error === NOTHING) return;
    const [first, second] = args as [Expected, unknown];
    const [expected, message] = typeof first === "string" ? [undefined, first] : [first, second];
    if (expected) {
      const isExpected = satisfies(error, expected);
      if (isExpected === undefined) invalid("expected", "a function or a regular expression", expected);
      if (!isExpected) throw error;
    }
    check(false, undefined, () => `${showError(error)} was thrown${message ? `: ${String(message)}` : ""}`, {
      actual: error,
      expected,
      operator,
    });
  }

  function matching(operator: string, isWanted: boolean) {
    return (text: unknown, pattern: unknown, message?: unknown): void => {
      if (!(pattern instanceof RegExp)) invalid("regexp", "a regular expression", pattern);
      const holds = typeof text === "string" && (pattern.exec(text) !== null) === isWanted;
      check(
        holds,
        message || undefined,
        () => `${show(text)} ${isWanted ? "does not match" : "matches"} ${String(pattern)}`,
        { actual: text, expected: pattern, operator },
      );
    };
  }

  function fail(...args: unknown[]): never {
    const [first, expected, message, operator = args.length === 2 ? "!=" : "fail"] = args as [
      unknown,
      unknown,
      unknown,
      string?,
    ];
    const isMessage = args.length <= 1;
    check(
      false,
      isMessage ? first : message,
      () => (isMessage ? "Failed" : `${show(first)} ${operator} ${show(expected)}`),
      isMessage ? { operator } : { actual: first, expected, operator },
    );
  }

  function ifError(error: unknown): void {
    check(error === null || error === undefined, undefined, () => `there was an error: ${showError(error)}`, {
      actual: error,
      expected: null,
      operator: "ifError",
    });
  }

  // oxlint-disable-next-line eqeqeq -- the rule of `assert.equal`
  const loose = (a: unknown, b: unknown): boolean => a == b || (a !== a && b !== b);
  const methods = {
    AssertionError,
    ok,
    equal: compare("==", loose),
    notEqual: compare("!=", (a, b) => !loose(a, b), "expected anything but"),
    strictEqual: compare("strictEqual", Object.is),
    notStrictEqual: compare("notStrictEqual", (a, b) => !Object.is(a, b), "expected anything but"),
    deepEqual: deep("deepEqual", "loose"),
    notDeepEqual: notDeep("notDeepEqual", "loose"),
    deepStrictEqual: deep("deepStrictEqual", "strict"),
    notDeepStrictEqual: notDeep("notDeepStrictEqual", "strict"),
    partialDeepStrictEqual: deep("partialDeepStrictEqual", "partial"),
    match: matching("match", true),
    doesNotMatch: matching("doesNotMatch", false),
    throws: (run: () => unknown, ...args: unknown[]) => expectError("throws", caught(run), args),
    doesNotThrow: (run: () => unknown, ...args: unknown[]) => expectNone("doesNotThrow", caught(run), args),
    rejects: async (run: unknown, ...args: unknown[]) => expectError("rejects", await rejection(run), args),
    doesNotReject: async (run: unknown, ...args: unknown[]) => expectNone("doesNotReject", await rejection(run), args),
    fail,
    ifError,
  };
  const { strictEqual, notStrictEqual, deepStrictEqual, notDeepStrictEqual } = methods;
  const assert = Object.assign((...args: unknown[]) => ok(...args), methods);
  const strict = Object.assign((...args: unknown[]) => ok(...args), methods, {
    equal: strictEqual,
    notEqual: notStrictEqual,
    deepEqual: deepStrictEqual,
    notDeepEqual: notDeepStrictEqual,
  });
  return Object.assign(assert, { strict: Object.assign(strict, { strict }) });
}
