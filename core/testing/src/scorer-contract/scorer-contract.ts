import type { Scorer, ScorerExample } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { bindProvision } from "../provision/bind-provision.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";
import { madeBy, type Source } from "../provision/source.ts";
import { scorerChecks } from "./scorer-checks.ts";

/** Options of the contract suite. */
export interface ScorerContractOptions extends ContractOptions {
  readonly make: () => Scorer | Promise<Scorer>;
  /** Questions with right and wrong answers. */
  readonly examples: readonly [ScorerExample, ...ScorerExample[]];
}

/** Registers a test for each property of a scorer: examples, the form of grades, any texts, determinism as stated, abort, failures. */
export function scorerContract(options: ScorerContractOptions): void {
  registerChecks(
    options,
    scorerProvisionChecks(
      madeBy(() => options.make()),
      options.examples,
      options.timeoutMs,
    ),
  );
}

/** Returns the checks of a scorer, which share it. */
export function scorerProvisionChecks(
  source: Source<Scorer>,
  examples: ScorerContractOptions["examples"],
  timeoutMs?: number,
): Check<void>[] {
  const { openFailing } = source;
  return bindProvision(scorerChecks, source, {
    timeoutMs,
    subjectOf: ({ value: scorer }) => ({ scorer, examples, openFailing, firstGrades: new Map() }),
  });
}
