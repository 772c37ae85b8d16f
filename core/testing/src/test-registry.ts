import * as nodeTest from "node:test";

/** Functions that register tests: those of jest, or others with the same form. */
export interface TestRegistry {
  describe(name: string, body: () => void): void;
  test(name: string, body: () => Promise<void>, timeoutMs?: number): void;
}

const nodeRegistry: TestRegistry = {
  describe: (name, body) => void nodeTest.describe(name, body),
  test: (name, body, timeout) => void nodeTest.test(name, timeout === undefined ? {} : { timeout }, body),
};

/** Returns the given registry, else the global `describe` and `test` of jest, else those of node:test. */
export function registryOf(given: TestRegistry | undefined): TestRegistry {
  return given ?? ("describe" in globalThis ? (globalThis as unknown as TestRegistry) : nodeRegistry);
}
