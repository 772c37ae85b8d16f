import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of leaks: timers, handles, child processes, listeners, files and memory that remain after episodes. */
export const leakChecks: readonly EnvironmentCheck[] = [];
