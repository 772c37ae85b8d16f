import type { Check } from "../check/check.ts";
import { failFor } from "../check/fail-for.ts";
import { isOpen } from "../check/finding.ts";
import { type Acknowledgements, runCheck } from "../check/run-check.ts";
import { type TestRegistry, registryOf } from "../test-registry.ts";

/** Options that all contract suites of provisions have. */
export interface ContractOptions {
  /** Name of the group of tests. */
  readonly name: string;
  /** Time limit of each test in milliseconds; default 60,000. */
  readonly timeoutMs?: number;
  /** Functions that register tests; default: the global `describe` and `test` of jest, else those of node:test. */
  readonly registry?: TestRegistry;
}

/** Registers a test for each check. It fails for errors, and for warnings that are not acknowledged. */
export function registerChecks(
  { name, timeoutMs = 60_000, registry }: ContractOptions,
  checks: readonly Check<void>[],
  about: { readonly subject: string; readonly acknowledged?: Acknowledgements | undefined } = { subject: name },
): void {
  const { describe, test } = registryOf(registry);
  describe(`the contract of ${name}`, () => {
    for (const check of checks) {
      const run = async (): Promise<void> => failFor((await runCheck(check, undefined, about)).filter(isOpen));
      test(check.name, run, Math.max(timeoutMs, check.timeoutMs ?? 0));
    }
  });
}
