import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of data: JSON everywhere, sizes, ends of episodes. */
export const dataChecks: readonly EnvironmentCheck[] = [];
