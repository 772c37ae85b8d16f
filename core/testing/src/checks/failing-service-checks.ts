import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of services that fail: their rewards are unscored, never zero. */
export const failingServiceChecks: readonly EnvironmentCheck[] = [];
