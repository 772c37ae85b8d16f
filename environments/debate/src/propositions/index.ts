import { cities } from "./cities.ts";
import { learning } from "./learning.ts";
import type { Proposition } from "./proposition.ts";
import { society } from "./society.ts";
import { technology } from "./technology.ts";

export type { Proposition } from "./proposition.ts";

/** The built-in propositions. */
export const propositions: readonly Proposition[] = [...cities, ...learning, ...society, ...technology];
