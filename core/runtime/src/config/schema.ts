import { z } from "zod";
import { environmentSection } from "./sections/environments.ts";
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
import { evalSection, samplingSection, stageSection } from "./sections/stages.ts";

const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    "must be letters, digits, dots, dashes and underscores, for it names directories",
  );

/** Configuration of a run, as a YAML file holds it. Files in the legacy form are translated to it (legacy/translate-legacy.ts). */
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
});

/** Value that the schema accepts. */
export type ConfigInput = z.output<typeof configSchema>;
