import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of determinism where an environment claims it, and that another seed or task changes an episode. */
export const determinismChecks: readonly EnvironmentCheck[] = [];
