import type { Family } from "../sketch.ts";
import { arithmetic } from "./arithmetic.ts";
import { conditions } from "./conditions.ts";
import { counting } from "./counting.ts";
import { dictionaries } from "./dictionaries.ts";
import { digits } from "./digits.ts";
import { dynamic } from "./dynamic.ts";
import { lists } from "./lists.ts";
import { matrices } from "./matrices.ts";
import { numberTheory } from "./number-theory.ts";
import { parsing } from "./parsing.ts";
import { recurrences } from "./recurrences.ts";
import { simulation } from "./simulation.ts";
import { sorting } from "./sorting.ts";
import { strings } from "./strings.ts";
import { windows } from "./windows.ts";
import { words } from "./words.ts";

/** Names of the families in options. */
export const FAMILY_NAMES = [
  "arithmetic",
  "conditions",
  "digits",
  "number_theory",
  "strings",
  "counting",
  "words",
  "lists",
  "sorting",
  "windows",
  "matrices",
  "dictionaries",
  "parsing",
  "recurrences",
  "dynamic",
  "simulation",
] as const;
export type FamilyName = (typeof FAMILY_NAMES)[number];

/** Families by name. */
export const FAMILIES: Readonly<Record<FamilyName, Family>> = {
  arithmetic,
  conditions,
  digits,
  number_theory: numberTheory,
  strings,
  counting,
  words,
  lists,
  sorting,
  windows,
  matrices,
  dictionaries,
  parsing,
  recurrences,
  dynamic,
  simulation,
};
