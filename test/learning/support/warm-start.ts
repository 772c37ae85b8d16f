import { sft } from "@mrlm/sft";
import type { Ordering, Skill } from "./ordering.ts";

/** Range of the accuracy at which learning starts. At a constant rate the greedy accuracy changes by up to 0.1 from step to step, so some orders of the data never reach both ranges. */
const GREEDY = [0.78, 0.86] as const;
const SAMPLED = [0.44, 0.48] as const;
/** First iteration that is measured. The accuracy is never reached earlier, and a measurement takes as long as three steps. */
const FIRST_MEASURED = 68;
/** Seeds of the order of the data. The first one reached both ranges on the machine of the author. */
const SEEDS = [1, 0, 2, 3, 4, 5];

/**
 * Returns the start that all learning tests share: a policy of one million parameters that sorts about four tasks in
 * five greedily and not half of them when it is sampled, made by supervised fine-tuning (batches of 128, constant rate
 * 1e-3, about 75 steps) and kept in a directory.
 */
export async function warmStart(
  ordering: Ordering,
  directory: string,
): Promise<Skill & { readonly seed: number; readonly steps: number }> {
  for (const seed of SEEDS) {
    await ordering.begin();
    for await (const { iteration } of ordering.learn(sft, { steps: 120, batch_size: 128, learning_rate: 1e-3 }, seed)) {
      if (iteration < FIRST_MEASURED) continue;
      const skill = await ordering.measure();
      if (skill.sampled > SAMPLED[1] + 0.04) break;
      if (!within(GREEDY, skill.greedy) || !within(SAMPLED, skill.sampled)) continue;
      await ordering.keep(directory);
      return { ...skill, seed, steps: iteration };
    }
  }
  throw new Error("No warm start led to the wanted skill");
}

function within([low, high]: readonly [number, number], value: number): boolean {
  return value >= low && value <= high;
}
