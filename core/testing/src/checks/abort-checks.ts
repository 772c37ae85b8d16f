import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of aborts and blocked event loops: what continues after its signal, and the longest block. */
export const abortChecks: readonly EnvironmentCheck[] = [];
