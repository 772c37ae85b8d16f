import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of strategies that solve nothing: none earns a large part of the reward of a right answer. */
export const strategyChecks: readonly EnvironmentCheck[] = [];
