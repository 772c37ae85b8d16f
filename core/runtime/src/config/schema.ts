import { z } from "zod";
import { environmentSection, seedEnvironmentSection } from "./sections/environments.ts";
import { pluginOptions } from "./sections/json-schema.ts";
import { modelSection } from "./sections/model.ts";
import {
  checkpointSection,
  distributedSection,
  engineSection,
  outputSection,
  serverSection,
  trackerSection,
} from "./sections/operation.ts";
import { seedAlgorithmSections, seedTrainingSection } from "./sections/seed-training.ts";
import { evalSection, samplingSection, stageSection } from "./sections/stages.ts";
import { withoutEffect } from "./sections/without-effect.ts";

const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    "must be letters, digits, dots, dashes and underscores, for it names directories",
  );

/** A run's configuration: our own form, and the seed system's, as they stand in a YAML file. */
export const configSchema = z.strictObject({
  name: name.optional().describe("Names the run directory; default: the file's name"),
  description: z.string().nullish().describe("What the run is for; kept with it"),
  tags: z.array(z.string()).optional().describe("Kept with the run"),
  seed: z.int().nonnegative().optional().describe("Everything random follows from it; default 0"),
  model: modelSection.describe("What is trained"),
  environments: z.array(environmentSection).optional().describe("What is trained on"),
  stages: z.array(stageSection).min(1).optional().describe("Algorithms, one after the other"),
  sampling: samplingSection.optional().describe("How episodes are sampled"),
  eval: evalSection.optional().describe("Measuring on held-out tasks before, between and after the stages"),
  engine: engineSection.optional().describe("Where the model lives"),
  server: serverSection.optional().describe("Where the environments live"),
  checkpoint: checkpointSection.optional().describe("When the run is saved, to be resumed from"),
  output: z
    .union([z.string().min(1), outputSection])
    .optional()
    .describe("Directory of the run directories, or an object"),
  trackers: z
    .array(trackerSection)
    .optional()
    .describe("Where metrics are shown beside the run directory: `tensorboard`, `wandb`, or `{ name, options }`"),
  plugins: z
    .record(z.string(), z.union([z.boolean(), pluginOptions]))
    .optional()
    .describe(
      "By package name or path: options of a plugin, `true` to use one that is no direct dependency, `false` to leave one out",
    ),
  distributed: distributedSection.optional().describe("Several processes for one engine"),
  base_directory: z.string().optional().describe("What relative paths are relative to; default: the file's directory"),
  experiment_name: name.optional().describe("The seed system's name of `name`"),
  training: seedTrainingSection.optional().describe("The seed system's form of one stage"),
  ...optionalSections(seedAlgorithmSections),
  eval_envs: z.array(seedEnvironmentSection).optional().describe("The seed system's form of `environments`"),
  policy_env: withoutEffect("the policy is `model`"),
  dataset: z
    .strictObject({ type: z.enum(["json", "jsonl"]).optional(), path: z.string().min(1) })
    .optional()
    .describe("The seed system's place of an algorithm's `data`: a JSONL file"),
  output_dir: z.string().min(1).optional().describe("The seed system's name of `output`"),
});

/** What the schema accepts. */
export type ConfigInput = z.output<typeof configSchema>;

function optionalSections<S extends Record<string, z.ZodObject>>(sections: S): { [K in keyof S]: z.ZodOptional<S[K]> } {
  const entries = Object.entries(sections).map(([key, section]) => [
    key,
    section.optional().describe(`Options of ${key} in the seed system's form, beside \`training\``),
  ]);
  return Object.fromEntries(entries) as { [K in keyof S]: z.ZodOptional<S[K]> };
}
