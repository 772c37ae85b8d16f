import { z } from "zod";

export const options = z.strictObject({
  gpus: z
    .array(z.int().nonnegative())
    .default([])
    .describe("Numbers of the GPUs that the processes may use, each by one process at a time"),
});
export type Options = z.output<typeof options>;
