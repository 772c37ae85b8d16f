import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of rewards: finite, within `rewardRange`, components as declared, the top of the range for gold. */
export const rewardChecks: readonly EnvironmentCheck[] = [];
