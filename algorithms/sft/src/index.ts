import { definePlugin } from "@mrlm/kit";
import { type AlgorithmDefinition, MrlmError } from "@mrlm/spec";
import { type SftOptions, sftOptions } from "./options.ts";
import { startSft } from "./sft-run.ts";

export { type Aggregation, sftBatch, type SftBatch } from "./loss.ts";
export { type SftOptions, sftOptions } from "./options.ts";

/** `sft@1`: supervised fine-tuning. */
export const sft: AlgorithmDefinition<SftOptions> = {
  id: "sft@1",
  description: "Supervised fine-tuning on demonstrations or conversations.",
  options: sftOptions,
  iterations: (options) => options.steps,
  validate(options, environments) {
    if (options.data === undefined && environments.length === 0) {
      throw new MrlmError("CONFIG_INVALID", "sft has neither `data` nor an environment to take demonstrations from.");
    }
  },
  create: startSft,
};

export default definePlugin({ name: "@mrlm/sft", algorithms: [sft] });
