/** Entry for options that several plugins take: data files, mixtures by difficulty, limits of sandboxes and workspaces. */

export type { SandboxLimits } from "@mrlm/spec";
export { dataFile, refuseBesideData } from "./data/data-file.ts";
export type { Place } from "./data/invalid-row.ts";
export { parseRow } from "./data/parse-row.ts";
export { difficultyRange, familyMixture, type FamilyMixture, pickDifficulty, pickFamily } from "./mixture.ts";
export { removedKeys } from "./removed-keys.ts";
export { workspaceLimits, workspaceLimitsOf } from "./workspace-options.ts";
export { limitsOf, sandboxLimits, sandboxOptions } from "./sandbox-options.ts";
