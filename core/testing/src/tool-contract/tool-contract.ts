import type { ToolExamples, Toolset } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { bindProvision } from "../provision/bind-provision.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";
import { madeBy, type Source } from "../provision/source.ts";
import { callChecks } from "./call-checks.ts";
import { definitionChecks } from "./definition-checks.ts";
import { episodeChecks, stateChecks } from "./episode-checks.ts";

/** Options of the contract suite. */
export interface ToolContractOptions extends ContractOptions, ToolExamples {
  /** Makes the toolset. `directory` is an empty folder; a toolset that writes files writes them there, and the suite requires that none remains. */
  readonly make: (directory: string) => Toolset | Promise<Toolset>;
  /** Episodes that are open at once; default 8. */
  readonly episodes?: number;
}

/**
 * Registers a test for each property of a toolset: definitions, schemas, invalid arguments, separate episodes, repeated episodes, abort, close. Tools are
 * called as a host calls them. The tests share one toolset, and the last one closes it: afterwards no process, handle or file remains.
 */
export function toolContract(options: ToolContractOptions): void {
  registerChecks(options, toolChecks(madeBy(options.make), options, options));
}

/** Returns the checks of a toolset, which share it. */
export function toolChecks(
  source: Source<Toolset>,
  examples: ToolExamples,
  { episodes = 8, timeoutMs }: Pick<ToolContractOptions, "episodes" | "timeoutMs"> = {},
): Check<void>[] {
  const { slow = examples.calls.at(-1) } = examples;
  const ofState = examples.state === undefined ? [] : stateChecks;
  return bindProvision([...definitionChecks, ...callChecks, ...ofState, ...episodeChecks], source, {
    timeoutMs,
    subjectOf: ({ value: toolset, context: { directory }, releaseMs }) => ({
      ...examples,
      ...{ toolset, directory, releaseMs, slow, episodes },
    }),
  });
}
