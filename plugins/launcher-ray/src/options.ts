import { z } from "zod";

export const options = z.strictObject({
  python: z
    .string()
    .min(1)
    .optional()
    .describe("A Python that has the package ray; default: MRLM_RAY_PYTHON, else `python3`"),
  address: z
    .string()
    .min(1)
    .optional()
    .describe(
      "HOST:PORT of the head of a running cluster, or `auto`; default: a cluster of this machine that ends with the run",
    ),
  cpus: z.number().int().positive().optional().describe("CPU cores of the cluster of this machine; default: all"),
});
export type Options = z.output<typeof options>;
