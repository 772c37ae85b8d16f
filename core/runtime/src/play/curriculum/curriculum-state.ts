import { z } from "zod";
import { poolState } from "./task-pool.ts";

const count = z.int().nonnegative();

/** State of a curriculum. */
export const curriculumState = z.object({
  draws: count,
  batches: count,
  turns: z.array(z.number()),
  /** Results that do not count yet, in the order of observation: environment, task, passes, trials, and level if there is one. */
  waiting: z.array(z.array(z.number())),
  pools: z.array(poolState),
});
