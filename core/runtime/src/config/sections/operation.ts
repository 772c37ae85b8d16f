import type { JsonValue } from "@mrlm/spec";
import { PART_KINDS } from "@mrlm/spec/host";
import { hasPassword, isDatabase } from "@mrlm/store";
import { z } from "zod";
import { pluginOptions, relativePath, textOr } from "./values.ts";

/** Longest delay of a timer: about 24 days. */
const MAX_SECONDS = Math.floor((2 ** 31 - 1) / 1000);

/** `engine.parallel`: mesh of the processes of `distributed`. */
const parallelSection = z.strictObject({
  data: z
    .int()
    .positive()
    .optional()
    .describe("Groups of processes that compute different units; default: the processes that the other two leave"),
  context: z
    .int()
    .positive()
    .default(1)
    .describe("Processes that share the tokens of each unit, for sequences that are too long for one"),
  tensor: z
    .int()
    .positive()
    .default(1)
    .describe("Processes that share the products of each token, for layers that are too large for one"),
});

/** `engine`: process that holds the model. */
export const engineSection = z.strictObject({
  address: z
    .string()
    .min(1)
    .optional()
    .describe("host:port of a running engine; without it one is started for the run"),
  token_file: z
    .string()
    .min(1)
    .transform(relativePath)
    .optional()
    .describe("File with the token that the engine at `address` requires, relative to the config"),
  provider: z.string().min(1).default("torch").describe("Plugin that starts the engine"),
  device: z.enum(["auto", "cpu", "cuda"]).default("auto").describe("`auto`: a GPU where there is one"),
  mode: z
    .enum(["auto", "deterministic", "throughput"])
    .default("auto")
    .describe("`deterministic`: bit-identical runs; `auto`: deterministic on a CPU"),
  check_memory: z
    .boolean()
    .default(true)
    .describe("Estimate the run's memory first; lower the token budget or stop if it does not fit"),
  samplers: z
    .int()
    .nonnegative()
    .max(64)
    .default(0)
    .describe(
      "Processes that sample beside the engine, on this machine, with the device, mode and threads of the engine. `mrlm sample --run` starts others",
    ),
  sampler_wait_seconds: z
    .number()
    .nonnegative()
    .max(MAX_SECONDS)
    .default(0)
    .describe(
      "Longest wait of a sequence for a sampler where none serves; the engine samples after it. For runs whose samplers come later or are started again",
    ),
  gpu: z.int().nonnegative().optional().describe("Index of the CUDA device of a started engine").meta({ default: 0 }),
  threads: z
    .int()
    .positive()
    .optional()
    .describe("CPU threads; default: 2 for a model of hidden size up to 256, else torch's choice"),
  parallel: parallelSection
    .optional()
    .describe(
      "Mesh of the processes of `distributed`, whose number is the product; default: all compute different units",
    ),
});

/** Entry of `engines`: a further engine, with the models that are on it. */
export const enginesEntry = engineSection
  .pick({ address: true, token_file: true, gpu: true, samplers: true, threads: true })
  .extend({
    device: engineSection.shape.device.unwrap().optional().describe("Default: that of `engine`"),
    models: z
      .array(z.string().min(1))
      .min(1)
      .describe("Ids of its models, as `mrlm train --dry-run` lists them: policies, and others that are no copy"),
  });

/** `server`: process that holds the environments. The limits are those of a spawned server, and of `mrlm serve --config`. */
export const serverSection = z.strictObject({
  address: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe(
      "host:port of a running environment server, or a list of several; `dns:NAME:PORT` stands for every address of a name",
    ),
  token_file: z
    .string()
    .min(1)
    .transform(relativePath)
    .optional()
    .describe("File with the token that each server at `address` requires, relative to the config"),
  tls: z
    .strictObject({
      ca: z
        .string()
        .min(1)
        .transform(relativePath)
        .optional()
        .describe("File with the authorities of the server's certificate; default: those that Node trusts"),
      cert: z
        .string()
        .min(1)
        .transform(relativePath)
        .optional()
        .describe("File with the certificate of this client, for mutual TLS"),
      key: z.string().min(1).transform(relativePath).optional().describe("File with the key of `cert`"),
      server_name: z
        .string()
        .min(1)
        .optional()
        .describe("Name that the server's certificate must have; default: the host of `address`"),
    })
    .optional()
    .describe(
      "TLS of each server at `address`, with files relative to the config; `{}` for an authority that Node trusts",
    ),
  spawn: z
    .boolean()
    .default(false)
    .describe("`true`: run the environments in a separate process; `false`: in this process"),
  reconnect_seconds: z
    .number()
    .positive()
    .default(60)
    .describe("Seconds that every server may be unreachable before the run ends"),
  max_sessions: z.int().positive().optional().describe("Open sessions at a time").meta({ default: 4096 }),
  max_sessions_by_environment: z
    .record(z.string().min(1), z.int().positive())
    .optional()
    .describe("Open sessions of an environment at a time, for example `{ code: 50 }`; default: only `max_sessions`"),
  max_sessions_per_client: z
    .int()
    .positive()
    .optional()
    .describe("Open sessions of one client at a time; default: half of `max_sessions`, all of them with `spawn`"),
  max_queue: z.int().nonnegative().optional().describe("Resets that may wait for a free place").meta({ default: 1024 }),
  queue_seconds: z
    .number()
    .nonnegative()
    .max(MAX_SECONDS)
    .optional()
    .describe("Longest wait of a reset")
    .meta({ default: 30 }),
  lease_seconds: z
    .number()
    .min(1)
    .max(MAX_SECONDS)
    .optional()
    .describe("A session without a request for this long is closed, if its client states no other time")
    .meta({ default: 60 }),
  drain_seconds: z
    .number()
    .nonnegative()
    .max(MAX_SECONDS)
    .optional()
    .describe("Time for the open sessions when the server stops")
    .meta({ default: 10 }),
});

/** `checkpoint`: interval and number of checkpoints. */
export const checkpointSection = z.strictObject({
  every: z
    .int()
    .nonnegative()
    .default(50)
    .describe("Iterations between two checkpoints; 0: only at the end of each stage and when the run is stopped"),
  keep: z.int().positive().default(2).describe("Number of newest checkpoints to keep"),
});

/** URL of a database of Postgres. The configuration is copied into the run's directory, so it holds no password. */
const storeUrl = z
  .string()
  .refine((url) => isDatabase(url), "must be postgres://USER@HOST:PORT/DATABASE")
  .refine(
    (url) => !isDatabase(url) || !hasPassword(url),
    "must hold no password: give it by the environment variable PGPASSWORD, or by ~/.pgpass",
  );

/** `store`: place and retention of the episode store. */
const storeSection = z.strictObject({
  url: storeUrl
    .optional()
    .describe(
      "Database of Postgres for the episodes, `postgres://USER@HOST:PORT/DATABASE`, by `@mrlm/store-postgres`; the run has a schema of its own in it; default: the file `episodes.sqlite` in the run's directory",
    ),
  keep_tokens: z
    .int()
    .nonnegative()
    .default(50)
    .describe(
      "Steps before the oldest kept checkpoint whose episodes keep their tokens; conversations and rewards stay of all",
    ),
});

/** `store`: the URL alone, or an object. */
export const storeKey = textOr(storeSection, storeUrl, (url) => ({ url }));

/** `output` as an object. */
export const outputSection = z.strictObject({
  directory: z
    .string()
    .min(1)
    .default("runs")
    .describe("Parent of the run directories, relative to the working directory"),
  trajectories: z
    .boolean()
    .default(true)
    .describe("Keep the tokens of episodes after a checkpoint holds their step, and store those of evaluations"),
});

/** `output`: the directory alone, or an object. */
export const outputKey = textOr(outputSection, z.string().min(1), (directory) => ({ directory }));

/** Keys of `distributed`. */
export const distributedKeys = z.strictObject({
  enabled: z
    .boolean()
    .optional()
    .describe(
      "`false`: one process, whatever the other keys are; default: true when nproc_per_node or nnodes is above 1",
    ),
  strategy: z
    .enum(["ddp", "fsdp"])
    .default("ddp")
    .describe("Each process holds all of a model (`ddp`) or a part of it (`fsdp`)"),
  nproc_per_node: z.int().positive().default(1).describe("Number of processes on each machine"),
  nnodes: z.int().positive().default(1).describe("Number of machines"),
  master_addr: z.string().optional().describe("Address of machine 0; needed for several machines"),
  master_port: z.int().min(1).max(65535).optional().describe("Free port of machine 0").meta({ default: 29500 }),
  join_seconds: z
    .number()
    .positive()
    .default(600)
    .describe("Seconds that machines wait for each other before training begins"),
});

/** `distributed`: several processes for one engine. */
export const distributedSection = distributedKeys.transform(
  ({ nproc_per_node, nnodes, enabled = nproc_per_node > 1 || nnodes > 1, ...rest }) => ({
    ...rest,
    enabled,
    nproc_per_node: enabled ? nproc_per_node : 1,
    nnodes: enabled ? nnodes : 1,
  }),
);

const trackerKeys = z.strictObject({
  name: z.string().min(1).describe("`tensorboard`, `wandb`, or the name of another plugin's tracker"),
  options: pluginOptions.default({}).describe("Options of the tracker"),
});

/** Entry of `trackers`: the name alone, or an object. */
export const trackerSection = textOr(trackerKeys, z.string().min(1), (name) => ({ name }));

/** `launcher`: plugin that starts the processes of `parts`. */
export const launcherSection = z
  .object({
    use: z.string().min(1).describe("`local`, `ray`, or the name of another plugin's launcher"),
  })
  .catchall(z.json() as z.ZodType<JsonValue, JsonValue>);

/** Entry of `parts`. */
export const partSection = z.strictObject({
  kind: z
    .enum(PART_KINDS)
    .describe(
      "`rollouts`: `mrlm play`; `environments`: `mrlm serve`, one at each `server.address`; `store`: `mrlm store serve`; `engine` needs a `command`",
    ),
  count: z
    .int()
    .positive()
    .optional()
    .describe("Number of processes; default 1, of `environments` one for each `server.address`"),
  args: z.array(z.string()).default([]).describe("Further arguments of the command"),
  command: z
    .array(z.string())
    .min(1)
    .optional()
    .describe("Program and arguments instead of the command of this kind; `{run}` stands for the run's directory"),
  cpus: z.number().positive().optional().describe("CPU cores of each process, by which the launcher places it"),
  gpus: z.number().positive().optional().describe("GPUs of each process"),
  memory_mb: z.number().positive().optional().describe("Memory of each process, by which the launcher places it"),
  env: z.record(z.string(), z.string()).default({}).describe("Environment variables of each process"),
  restarts: z
    .int()
    .nonnegative()
    .default(5)
    .describe("Times that processes of this part are started again after a fault"),
});
