import { z } from "zod";
import { environmentSection } from "./sections/environments.ts";
import { pluginOptions } from "./sections/values.ts";
import { measuredModel, modelSection, policySection } from "./sections/model.ts";
import {
  checkpointSection,
  distributedSection,
  engineSection,
  enginesEntry,
  launcherSection,
  outputKey,
  partSection,
  serverSection,
  storeKey,
  trackerSection,
} from "./sections/operation.ts";
import { evalSection, playSection, samplingSection, stageSection } from "./sections/stages.ts";

const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    "must be letters, digits, dots, dashes and underscores, for it names directories",
  );

/**
 * Configuration of a run, as a YAML file holds it. Files in the legacy form are translated to it (legacy/translate-legacy.ts).
 *
 * A key has its type, its default and its description here or in its section. `.default` and `.prefault` fill a key in. `.meta({ default })` documents the
 * default of the part that reads the key; the resolved configuration does not have it. Defaults that follow from other keys are in resolve-config.ts.
 */
export const configSchema = z.strictObject({
  name: name.optional().describe("Name of the run directory; default: the file's name"),
  description: z.string().nullish().describe("Purpose of the run; stored with it"),
  tags: z.array(z.string()).default([]).describe("Labels that are stored with the run"),
  seed: z.int().nonnegative().default(0).describe("Seed of all randomness"),
  model: modelSection.optional().describe("Model to train; short for `policies: { policy: ... }`"),
  policies: z
    .record(z.string(), policySection)
    .optional()
    .describe("Trained models by name, each with the keys of `model` and its own `sampling`"),
  models: z
    .record(name, measuredModel)
    .optional()
    .describe("Models by name that `mrlm eval` measures in `eval.environments`, in place of `model` and `stages`"),
  environments: z.array(environmentSection).default([]).describe("Environments to train on"),
  stages: z.array(stageSection).min(1).optional().describe("Algorithms that run one after the other"),
  sampling: samplingSection.prefault({}).describe("Sampling of episodes"),
  play: playSection.prefault({}).describe("Play of the episodes that are learnt from"),
  eval: evalSection.prefault({}).describe("Evaluation on held-out tasks before, between and after the stages"),
  engine: engineSection.prefault({}).describe("Process that holds the model"),
  engines: z
    .record(z.string(), enginesEntry)
    .optional()
    .describe(
      "Further engines by name, which hold some of the models in place of `engine`; other keys are those of `engine`",
    ),
  server: serverSection.prefault({}).describe("Process that holds the environments"),
  checkpoint: checkpointSection.prefault({}).describe("When checkpoints are written, from which a run resumes"),
  store: storeKey.prefault({}).describe("Place and retention of the episode store; a text is its `url`"),
  output: outputKey.prefault({}).describe("Directory of the run directories, or an object"),
  trackers: z
    .array(trackerSection)
    .default([])
    .describe(
      "Further destinations of metrics beside the run directory: `tensorboard`, `wandb`, or `{ name, options }`",
    ),
  plugins: z
    .record(z.string(), z.union([z.boolean(), pluginOptions]))
    .default({})
    .describe(
      "By package name or path: options of a plugin, `true` to use one that is no direct dependency, `false` to leave one out",
    ),
  distributed: distributedSection.prefault({}).describe("Several processes for one engine"),
  launcher: launcherSection.optional().describe("Plugin that starts the processes of `parts`, for `mrlm launch`"),
  parts: z
    .array(partSection)
    .optional()
    .describe("Processes that `mrlm launch` starts beside the training process; other commands ignore them"),
  base_directory: z.string().optional().describe("Base of relative paths; default: the file's directory"),
});

/** Value that the schema accepts. */
export type ConfigInput = z.input<typeof configSchema>;

/** Value with the defaults that need no other key. */
export type ParsedConfig = z.output<typeof configSchema>;
