import type { Launcher } from "@mrlm/spec/host";
import { bindProvision } from "../provision/bind-provision.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";
import type { Source } from "../provision/source.ts";
import { launcherChecks } from "./launcher-checks.ts";

/** Options of the contract suite. */
export interface LauncherContractOptions extends ContractOptions {
  /** Makes the launcher, which must place its processes on this machine. */
  readonly make: () => Launcher | Promise<Launcher>;
}

/**
 * Registers a test for each property of a launcher: events, exit codes and signals, environment variables, a part that cannot run, and that `stop` ends every
 * process with what it started. The tests share one launcher; afterwards no process or handle remains.
 */
export function launcherContract(options: LauncherContractOptions): void {
  const source: Source<Launcher> = {
    async open() {
      const value = await options.make();
      return { value, close: () => value.stop() };
    },
  };
  const { timeoutMs } = options;
  registerChecks(options, bindProvision(launcherChecks, source, { timeoutMs, subjectOf: ({ value }) => value }));
}
