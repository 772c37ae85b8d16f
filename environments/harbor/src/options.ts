import { z } from "zod";

/** Base of a Dockerfile that is the system folders of the host. */
export const HOST = "host";

/** Options of `harbor@1`. */
export const harborOptions = z.strictObject({
  tasks: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .describe(
      "A folder of tasks, a task, or a list of them; relative to the configuration, on a server to its --data-root",
    ),
  eval_share: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe("Share of the distinct instructions that is never trained on"),
  task_seed: z.int().default(0).describe("Another seed divides the tasks in another way"),
  bases: z
    .record(z.string().min(1), z.string().min(1))
    .default({})
    .describe(
      'Image of the provider of workspaces for each image that a task names, such as {"python:3.12": py}; `host` is the host\'s system folders, and the name * is any image',
    ),
  program: z
    .strictObject({
      command: z.string().min(1).describe("By /bin/sh in the working directory. Its input is the instruction"),
      files: z.string().min(1).optional().describe("Folder that is copied to /agent"),
      env: z.record(z.string().min(1), z.string()).default({}).describe("Variables, over those of the task"),
      calls: z.int().min(1).max(10_000).default(100).describe("Calls of the model"),
    })
    .optional()
    .describe("Agent that is a program in the workspace and calls the policy as a model, in place of tools"),
  turns: z.int().min(1).max(1000).default(30).describe("Messages of the policy in each step of a task"),
});

/** Parsed options of `harbor@1`. */
export type HarborOptions = z.output<typeof harborOptions>;
