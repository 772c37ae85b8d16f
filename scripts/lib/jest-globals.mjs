// Module that tests import as "@jest/globals", when they run as native modules (native-test-runner.mjs).
import { jestExpect } from "@jest/expect";
import { ModernFakeTimers } from "@jest/fake-timers";
import { ModuleMocker } from "jest-mock";

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from "jest-circus";
export { jestExpect as expect };

/** @type {any} */
const config = { fakeTimers: { enableGlobally: false } };
const timers = new ModernFakeTimers({ global: globalThis, config });
const mocks = new ModuleMocker(globalThis);

/** @type {Record<symbol, unknown>} */
const settings = globalThis;

export const jest = {
  fn: mocks.fn.bind(mocks),
  spyOn: mocks.spyOn.bind(mocks),
  restoreAllMocks: () => mocks.restoreAllMocks(),
  useFakeTimers: timers.useFakeTimers.bind(timers),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTimeAsync: timers.advanceTimersByTimeAsync.bind(timers),
  // jest-circus reads the timeout of the tests of a file at this symbol.
  setTimeout: (/** @type {number} */ milliseconds) => {
    settings[Symbol.for("TEST_TIMEOUT_SYMBOL")] = milliseconds;
  },
};
