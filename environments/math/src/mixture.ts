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
export function mixtureAt(
  options: MathOptions,
  { split, index }: { readonly split: string; readonly index: number },
): Mixture {
  const { families, difficulty_range: range } = options;
  if (split !== "train") return { families, range: options.eval_difficulty_range ?? range };
  let end = 0;
  const stage = options.curriculum.find(({ tasks }) => index < (end += tasks));
  return { families: stage?.families ?? families, range: stage?.difficulty_range ?? range };
}
