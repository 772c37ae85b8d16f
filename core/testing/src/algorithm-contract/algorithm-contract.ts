import type { AlgorithmExamples } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";
import { algorithmChecks, algorithmSubject, type AnyAlgorithm } from "./algorithm-checks.ts";

/** Options of the contract suite. */
export interface AlgorithmContractOptions extends Partial<ContractOptions>, AlgorithmExamples {
  readonly algorithm: AnyAlgorithm;
}

/**
 * Registers a test for each property of an algorithm, which trains a {@link BigramEngine} by the code of `mrlm train`: it refuses bad options, reports each
 * iteration, learns, trains the same weights with the same seed, and the same again after it was interrupted and resumed.
 */
export function algorithmContract({ algorithm, ...options }: AlgorithmContractOptions): void {
  registerChecks({ name: algorithm.id, ...options }, algorithmProvisionChecks(algorithm, options));
}

/** Returns the checks of an algorithm, which share one trained run. */
export function algorithmProvisionChecks(algorithm: AnyAlgorithm, examples: AlgorithmExamples): Check<void>[] {
  const subject = algorithmSubject(algorithm, examples);
  return algorithmChecks.map((check) => ({ ...check, run: async () => check.run(subject) }));
}
