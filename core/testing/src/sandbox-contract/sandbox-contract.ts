import type { Sandbox } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import { expectCode } from "../contract/expect-code.ts";
import { bindProvision } from "../provision/bind-provision.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";
import { madeBy, type Source } from "../provision/source.ts";
import { SANDBOX_PROGRAMS } from "./programs.ts";
import { runChecks } from "./run-checks.ts";
import { testChecks } from "./test-checks.ts";

/** Options of the contract suite. */
export interface SandboxContractOptions extends ContractOptions {
  readonly make: () => Sandbox | Promise<Sandbox>;
}

/**
 * Registers a test for each property of a sandbox: output, values, errors with lines, limits, isolation, tests of a submission, sessions,
 * cancelling. The tests share one sandbox, and the last one closes it.
 */
export function sandboxContract(options: SandboxContractOptions): void {
  registerChecks(
    options,
    sandboxProvisionChecks(
      madeBy(() => options.make()),
      options.timeoutMs,
    ),
  );
}

/** Returns the checks of a sandbox, which share it. */
export function sandboxProvisionChecks(source: Source<Sandbox>, timeoutMs = 120_000): Check<void>[] {
  return bindProvision([...runChecks, ...testChecks], source, {
    timeoutMs,
    subjectOf({ value: sandbox }) {
      const programs = SANDBOX_PROGRAMS[sandbox.language];
      if (programs === undefined)
        throw new Defect("SANDBOX_LANGUAGE_UNKNOWN", `There are no programs in ${sandbox.language} to check with.`);
      return { sandbox, programs };
    },
    // A close ends what runs, and refuses what comes after it.
    async closing({ sandbox, programs }) {
      const running = sandbox.run({ code: programs.loops, limits: { wallMs: 60_000, cpuMs: 60_000 } });
      const failed = expectCode(running, "CANCELLED", "SANDBOX_FAILED");
      await sandbox.close();
      await failed;
      await expectCode(sandbox.run({ code: programs.hello }), "CANCELLED");
    },
  });
}
