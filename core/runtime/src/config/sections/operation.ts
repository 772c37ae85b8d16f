import { z } from "zod";
import { pluginOptions } from "./json-schema.ts";

/** `engine`: where the model lives. */
export const engineSection = z.strictObject({
  address: z
    .string()
    .min(1)
    .optional()
    .describe("host:port of an engine that runs already; without it one is started for the run"),
  token_file: z
    .string()
    .min(1)
    .optional()
    .describe("File with the token that the engine at `address` asks for, relative to the config"),
  provider: z.string().min(1).optional().describe("Plugin that starts it; default `torch`"),
  device: z.enum(["auto", "cpu", "cuda"]).optional().describe("Default `auto`"),
  mode: z
    .enum(["auto", "deterministic", "throughput"])
    .optional()
    .describe("`deterministic`: bit-identical runs; `auto`: deterministic on a CPU"),
  check_memory: z
    .boolean()
    .optional()
    .describe("Estimate the run's memory first, lower the token budget or refuse where it does not fit; default true"),
  threads: z
    .int()
    .positive()
    .optional()
    .describe("CPU threads; default: 2 for a model of hidden size up to 256, else what torch chooses"),
});

/** `server`: where the environments live. */
export const serverSection = z.strictObject({
  address: z.string().min(1).optional().describe("host:port of an environment server that runs already"),
  token_file: z
    .string()
    .min(1)
    .optional()
    .describe("File with the token that the server at `address` asks for, relative to the config"),
  spawn: z.boolean().optional().describe("`true`: a server in a process of its own; default: in this process"),
  reconnect_seconds: z
    .number()
    .positive()
    .optional()
    .describe("How long a server may be gone before the run ends; default 60"),
});

/** `checkpoint`. */
export const checkpointSection = z.strictObject({
  every: z
    .int()
    .nonnegative()
    .optional()
    .describe("Iterations between two; default 50; 0: only at the end of each stage and when the run is stopped"),
  keep: z.int().positive().optional().describe("How many of the newest are kept; default 2"),
});

/** `output`, when it is more than a directory. */
export const outputSection = z.strictObject({
  directory: z
    .string()
    .min(1)
    .optional()
    .describe("Where run directories are made, relative to the working directory; default `runs`"),
  trajectories: z
    .boolean()
    .optional()
    .describe("Store every episode of the training and of the evaluations, down to the tokens; default true"),
});

/** `distributed`: several processes for one engine. */
export const distributedSection = z.strictObject({
  enabled: z
    .boolean()
    .optional()
    .describe(
      "`false`: one process, whatever else is said here; default: true when nproc_per_node or nnodes is above 1",
    ),
  strategy: z
    .enum(["ddp", "fsdp"])
    .optional()
    .describe("Each process holds all of a model (`ddp`, the default) or a part of it (`fsdp`)"),
  nproc_per_node: z.int().positive().optional().describe("Processes on each machine"),
  nnodes: z.int().positive().optional().describe("Machines"),
  master_addr: z.string().optional().describe("Address of machine 0; needed for several machines"),
  master_port: z.int().min(1).max(65535).optional().describe("A free port of machine 0; default 29500"),
  join_seconds: z
    .number()
    .positive()
    .optional()
    .describe("How long machines wait for each other before training begins; default 600"),
});

/** One of `trackers`. */
export const trackerSection = z.union([
  z.string().min(1),
  z.strictObject({
    name: z.string().min(1).describe("`tensorboard`, `wandb`, or that of another plugin"),
    options: pluginOptions.optional().describe("The tracker's own options"),
  }),
]);
