// Runs inside an isolate: the text of this function is what goes there, so it uses nothing of this module.
import type { Inspector } from "./inspector.ts";

/** The assertions of `node:assert`, with messages that show the values. */
export function makeAssert(inspector: Inspector, deepEqual: (left: unknown, right: unknown, strict: boolean) => boolean): unknown {
  type Expected = RegExp | (new (...args: never[]) => unknown) | ((error: unknown) => unknown) | object | undefined;
  const show = (value: unknown): string => {
    const text = inspector.inspect(value);
    return text.length > 300 ? `${text.slice(0, 300)}...` : text;
  };

  class AssertionError extends Error {
    override readonly name = "AssertionError";
    readonly code = "ERR_ASSERTION";
  }

  function check(condition: unknown, message: unknown, otherwise: () => string): asserts condition {
    if (condition) return;
    if (message instanceof Error) throw message;
    throw new AssertionError(message === undefined ? otherwise() : String(message));
  }

  function ok(value: unknown, message?: unknown): void {
    check(value, message, () => `${show(value)} is not truthy`);
  }

  const compare =
    (holds: (actual: never, expected: never) => boolean, what: string) =>
    (actual: unknown, expected: unknown, message?: unknown): void =>
      check(holds(actual as never, expected as never), message, () => `got ${show(actual)}, ${what} ${show(expected)}`);

  /** Whether an error is what was expected of it. */
  function fits(error: unknown, expected: Expected): boolean {
    if (expected === undefined || typeof expected === "string") return true;
    if (expected instanceof RegExp) return expected.test(String(error));
    if (typeof expected !== "function") {
      return Object.entries(expected).every(([key, value]) => {
        const actual = (error as Record<string, unknown>)[key];
        return value instanceof RegExp ? value.test(String(actual)) : deepEqual(actual, value, true);
      });
    }
    if (expected === Error || expected.prototype instanceof Error) return error instanceof expected || (error as Error)?.name === expected.name;
    return (expected as (error: unknown) => unknown)(error) === true;
  }

  function judgeThrown(error: unknown, expected: Expected, message: unknown): void {
    check(fits(error, expected), message, () => `what was thrown is not what was expected: ${String(error)}`);
  }

  function throws(run: () => unknown, expected?: Expected, message?: unknown): void {
    try {
      run();
    } catch (error) {
      return judgeThrown(error, expected, message);
    }
    check(false, message ?? (typeof expected === "string" ? expected : undefined), () => "nothing was thrown");
  }

  async function rejects(run: Promise<unknown> | (() => Promise<unknown>), expected?: Expected, message?: unknown): Promise<void> {
    try {
      await (typeof run === "function" ? run() : run);
    } catch (error) {
      return judgeThrown(error, expected, message);
    }
    check(false, message, () => "the promise was not rejected");
  }

  // oxlint-disable-next-line eqeqeq -- what `assert.equal` means by equal
  const loose = (a: unknown, b: unknown): boolean => a == b || (a !== a && b !== b);
  const methods = {
    AssertionError,
    ok,
    equal: compare(loose, "expected"),
    notEqual: compare((a, b) => !loose(a, b), "expected anything but"),
    strictEqual: compare(Object.is, "expected"),
    notStrictEqual: compare((a, b) => !Object.is(a, b), "expected anything but"),
    deepEqual: compare((a, b) => deepEqual(a, b, false), "expected"),
    notDeepEqual: compare((a, b) => !deepEqual(a, b, false), "expected anything but"),
    deepStrictEqual: compare((a, b) => deepEqual(a, b, true), "expected"),
    notDeepStrictEqual: compare((a, b) => !deepEqual(a, b, true), "expected anything but"),
    match: (text: string, pattern: RegExp, message?: unknown) => check(pattern.test(text), message, () => `${show(text)} does not match ${pattern}`),
    doesNotMatch: (text: string, pattern: RegExp, message?: unknown) => check(!pattern.test(text), message, () => `${show(text)} matches ${pattern}`),
    throws,
    doesNotThrow: (run: () => unknown) => void run(),
    rejects,
    doesNotReject: async (run: Promise<unknown> | (() => Promise<unknown>)) => void (await (typeof run === "function" ? run() : run)),
    fail: (message?: unknown) => check(false, message, () => "failed"),
    isDeepStrictEqual: (a: unknown, b: unknown) => deepEqual(a, b, true),
  };
  const assert = Object.assign((value: unknown, message?: unknown) => ok(value, message), methods);
  return Object.assign(assert, { strict: assert });
}
