import type { Judge, JudgeExample } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { bindProvision } from "../provision/bind-provision.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";
import { madeBy, type Source } from "../provision/source.ts";
import { judgeChecks } from "./judge-checks.ts";

/** Options of the contract suite. */
export interface JudgeContractOptions extends ContractOptions {
  readonly make: () => Judge | Promise<Judge>;
  /** Conversations that the judge can score; the first with at least two agents and two turns. */
  readonly examples: readonly [JudgeExample, ...JudgeExample[]];
}

/** Registers a test for each property of a judge: complete judgements, any texts, examples, conversations at once, determinism as stated, abort, failures. */
export function judgeContract(options: JudgeContractOptions): void {
  registerChecks(
    options,
    judgeProvisionChecks(
      madeBy(() => options.make()),
      options.examples,
      options.timeoutMs,
    ),
  );
}

/** Returns the checks of a judge, which share it. */
export function judgeProvisionChecks(
  source: Source<Judge>,
  examples: JudgeContractOptions["examples"],
  timeoutMs?: number,
): Check<void>[] {
  const { openFailing } = source;
  return bindProvision(judgeChecks, source, {
    timeoutMs,
    subjectOf: ({ value: judge }) => ({ judge, examples, openFailing }),
  });
}
