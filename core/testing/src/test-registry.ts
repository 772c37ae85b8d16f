import * as nodeTest from "node:test";

/** Where tests are registered: those of jest, or of anything that has the same two functions. */
export interface TestRegistry {
  describe(name: string, body: () => void): void;
  test(name: string, body: () => Promise<void>, timeoutMs?: number): void;
}

const nodeRegistry: TestRegistry = {
  describe: (name, body) => void nodeTest.describe(name, body),
  test: (name, body, timeout) => void nodeTest.test(name, timeout === undefined ? {} : { timeout }, body),
};

/** The one that was given, else the global `describe` and `test` (jest), else those of node:test. */
export function registryOf(given: TestRegistry | undefined): TestRegistry {
  return given ?? ("describe" in globalThis ? (globalThis as unknown as TestRegistry) : nodeRegistry);
}
