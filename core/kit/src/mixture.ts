import type { RandomStream } from "@mrlm/spec";
import { z } from "zod";

const difficulty = z.int().min(1).max(10);

/** Option of a generator: one difficulty, or the lowest and the highest, from 1 to 10. */
export const difficultyRange = z.union([
  difficulty,
  z.tuple([difficulty, difficulty]).refine(([low, high]) => low <= high, "the lower difficulty comes first"),
]);
export type DifficultyRange = z.output<typeof difficultyRange>;

/** Families of problems with equal weights, or a weight for each family. */
export type FamilyMixture<Name extends string> = readonly Name[] | Readonly<Partial<Record<Name, number>>>;

/** Returns the schema of an option of a generator: families with their weights. */
export function familyMixture<const Names extends readonly [string, ...string[]]>(
  names: Names,
): z.ZodType<FamilyMixture<Names[number]>> {
  const family = z.enum(names);
  const weights = z.partialRecord(family, z.number().nonnegative());
  return z.union([
    z.array(family).min(1),
    weights.refine(
      (given) => Object.values(given).some((weight) => (weight as number) > 0),
      "at least one family needs a weight above 0",
    ),
  ]) as never;
}

/** Draws a family by weight. */
export function pickFamily<Name extends string>(random: RandomStream, families: FamilyMixture<Name>): Name {
  if (isList(families)) return random.pick(families);
  const weights = (Object.entries(families) as [Name, number][]).filter(([, weight]) => weight > 0);
  let point = random.next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  const [name] = weights.find(([, weight]) => (point -= weight) < 0) ?? (weights.at(-1) as [Name, number]);
  return name;
}

/** Draws a difficulty of the range uniformly. */
export function pickDifficulty(random: RandomStream, range: DifficultyRange): number {
  const [low, high] = typeof range === "number" ? [range, range] : range;
  return random.integer(low, high);
}

function isList<Name extends string>(families: FamilyMixture<Name>): families is readonly Name[] {
  return Array.isArray(families);
}
