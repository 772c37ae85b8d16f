import { calculation } from "./calculation.ts";
import { fileTree } from "./file-tree.ts";
import { findings } from "./findings.ts";
import type { Generator } from "./generator.ts";
import { site } from "./site.ts";
import { table } from "./table.ts";

/** Generators by the name of their family of tasks. */
export const GENERATORS = {
  calculation,
  file_tree: fileTree,
  site,
  table,
  findings,
} as const satisfies Record<string, Generator>;

export type FamilyName = keyof typeof GENERATORS;

export const FAMILY_NAMES = Object.keys(GENERATORS) as [FamilyName, ...FamilyName[]];
