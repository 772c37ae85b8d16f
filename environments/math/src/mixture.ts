import type { RandomStream } from "@mrlm/spec";
import type { FamilyName } from "./families/index.ts";
import type { MathOptions } from "./options.ts";

/** What is drawn at one place of a split. */
export interface Mixture {
  readonly families: MathOptions["families"];
  readonly range: MathOptions["difficulty_range"];
}

/**
 * The mixture at an index: that of the curriculum's stage in the training split, the options' own otherwise. It depends on the index
 * alone, so a resumed run meets the same tasks as one that never stopped.
 */
export function mixtureAt(options: MathOptions, { split, index }: { readonly split: string; readonly index: number }): Mixture {
  const { families, difficulty_range: range } = options;
  if (split !== "train") return { families, range: options.eval_difficulty_range ?? range };
  let end = 0;
  const stage = options.curriculum.find(({ tasks }) => index < (end += tasks));
  return { families: stage?.families ?? families, range: stage?.difficulty_range ?? range };
}

/** A family by weight. */
export function pickFamily(random: RandomStream, families: MathOptions["families"]): FamilyName {
  if (Array.isArray(families)) return random.pick(families);
  const weights = Object.entries(families).filter(([, weight]) => weight > 0) as [FamilyName, number][];
  let point = random.next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  const [name] = weights.find(([, weight]) => (point -= weight) < 0) ?? (weights.at(-1) as [FamilyName, number]);
  return name;
}

/** A difficulty of the range, each as likely. */
export function pickDifficulty(random: RandomStream, range: MathOptions["difficulty_range"]): number {
  const [low, high] = typeof range === "number" ? [range, range] : range;
  return random.integer(low, high);
}
