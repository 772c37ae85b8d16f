import assert from "node:assert/strict";
import type { Sandbox } from "@mrlm/spec";
import { expectCode } from "../contract/expect-code.ts";
import { type TestRegistry, registryOf } from "../test-registry.ts";
import { SANDBOX_PROGRAMS, type SandboxPrograms } from "./programs.ts";
import { runChecks } from "./run-checks.ts";
import { testChecks } from "./test-checks.ts";

/** Options of the contract suite. */
export interface SandboxContractOptions {
  /** Name of the group of tests. */
  readonly name: string;
  readonly make: () => Sandbox | Promise<Sandbox>;
  readonly timeoutMs?: number;
  /** Functions that register tests; default: the global `describe` and `test` of jest, else those of node:test. */
  readonly registry?: TestRegistry;
}

/**
 * Registers a test for each property of a sandbox: output, values, errors with lines, limits, isolation, tests of a submission, sessions,
 * cancelling. The tests share one sandbox, and the last one closes it.
 */
export function sandboxContract({ name, make, timeoutMs = 120_000, ...options }: SandboxContractOptions): void {
  const registry = registryOf(options.registry);
  let made: Promise<Sandbox> | undefined;
  const sandboxOf = (): Promise<Sandbox> => (made ??= Promise.resolve(make()));
  registry.describe(`the contract of ${name}`, () => {
    for (const check of [...runChecks, ...testChecks]) {
      const run = async (): Promise<void> => {
        const sandbox = await sandboxOf();
        const programs = SANDBOX_PROGRAMS[sandbox.language];
        assert(programs, `There are no programs in ${sandbox.language} to test with.`);
        await check.run({ sandbox, programs });
      };
      registry.test(check.name, run, timeoutMs);
    }
    const close = async (): Promise<void> => {
      const sandbox = await sandboxOf();
      const programs = SANDBOX_PROGRAMS[sandbox.language] as SandboxPrograms;
      const running = sandbox.run({ code: programs.loops, limits: { wallMs: 60_000, cpuMs: 60_000 } });
      const failed = expectCode(running, "CANCELLED", "SANDBOX_FAILED");
      await sandbox.close();
      await failed;
      await expectCode(sandbox.run({ code: programs.hello }), "CANCELLED");
    };
    registry.test("closing ends what runs and refuses what comes", close, timeoutMs);
  });
}
