import type { Fixture } from "@mrlm/spec";
import type { Subject } from "../contract/subject.ts";
import { Arena, FEWEST_TASKS } from "./arena.ts";
import { fixtureToAttack } from "./baselines.ts";
import { type AttackLimits, searchPrograms, type SearchResult } from "./search.ts";
import { readLiterals } from "./source-literals.ts";

/** Outcome of a search, or the reason for which nothing was searched. */
export type AttackResult =
  | (SearchResult & { readonly spent: number; readonly fixture: Fixture })
  | { readonly skipped: string };

/** Searches a program that earns in an environment without solving. */
export async function attackEnvironment(subject: Subject, limits: AttackLimits): Promise<AttackResult> {
  const fixture = fixtureToAttack(subject.definition);
  if (fixture === undefined) return { skipped: "there is no gold fixture" };
  const arena = await Arena.of(subject, fixture);
  try {
    if (arena.size < FEWEST_TASKS) return { skipped: `${arena.size} tasks are fewer than ${FEWEST_TASKS}` };
    return { ...(await searchPrograms(arena, readLiterals(subject.directory), limits)), spent: arena.spent, fixture };
  } finally {
    await arena.close();
  }
}
