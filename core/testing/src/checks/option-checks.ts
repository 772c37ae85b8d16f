import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of options: the schema and its JSON Schema agree, defaults work, unknown keys are rejected. */
export const optionChecks: readonly EnvironmentCheck[] = [];
