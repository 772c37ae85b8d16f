import type { MathOptions } from "./options.ts";

/** Families and difficulties at one index of a split. */
export interface Mixture {
  readonly families: MathOptions["families"];
  readonly range: MathOptions["difficulty_range"];
}

/**
 * Returns the mixture at an index: that of the stage of the curriculum in the training split, else that of the options. It depends only on the index, so that a
 * resumed run has the tasks of an uninterrupted one.
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
