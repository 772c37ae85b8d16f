import type { Workspaces } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { expectCode } from "../contract/expect-code.ts";
import { bindProvision } from "../provision/bind-provision.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";
import { madeBy, type Source } from "../provision/source.ts";
import { commandChecks } from "./command-checks.ts";
import { fileChecks } from "./file-checks.ts";
import { limitChecks } from "./limit-checks.ts";
import { shellChecks } from "./shell-checks.ts";

/** Options of the contract suite. */
export interface WorkspaceContractOptions extends ContractOptions {
  readonly make: () => Workspaces | Promise<Workspaces>;
}

/**
 * Registers a test for each property of a provider of workspaces: commands, files and their paths, shells, limits, isolation, snapshots. The tests share one
 * provider, and the last one closes it.
 */
export function workspaceContract(options: WorkspaceContractOptions): void {
  registerChecks(
    options,
    workspaceProvisionChecks(
      madeBy(() => options.make()),
      options.timeoutMs,
    ),
  );
}

/** Returns the checks of a provider of workspaces, which share it. */
export function workspaceProvisionChecks(source: Source<Workspaces>, timeoutMs = 120_000): Check<void>[] {
  return bindProvision([...commandChecks, ...fileChecks, ...shellChecks, ...limitChecks], source, {
    timeoutMs,
    subjectOf: ({ value }) => value,
    // A close ends what runs, and refuses what comes after it.
    async closing(workspaces) {
      const workspace = await workspaces.open();
      const failed = expectCode(workspace.exec("sleep 600"), "SESSION_NOT_FOUND", "SANDBOX_FAILED");
      await workspaces.close();
      await failed;
      await expectCode(workspaces.open(), "CANCELLED");
      await expectCode(workspace.exec("true"), "SESSION_NOT_FOUND");
    },
  });
}
