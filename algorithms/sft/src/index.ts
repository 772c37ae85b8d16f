import { type AlgorithmDefinition, definePlugin, MrlmError } from "@mrlm/kit/learning";
import { checkFileRows } from "./file-rows.ts";
import { type SftOptions, sftOptions, sourcesOf } from "./options.ts";
import { startSft } from "./sft-run.ts";

/** `sft@1`: supervised fine-tuning. */
export const sft: AlgorithmDefinition<SftOptions> = {
  id: "sft@1",
  description: "Supervised fine-tuning: imitates demonstrations and answers of files.",
  options: sftOptions,
  iterations: (options) => options.steps,
  files: (options) => sourcesOf(options).flatMap(({ path }) => path ?? []),
  checkRows(options, file, rows) {
    for (const { path, min_reward } of sourcesOf(options)) if (path === file) checkFileRows(rows, file, min_reward);
  },
  validate(options, environments) {
    const sources = sourcesOf(options);
    if (environments.length === 0 && sources.some(({ path }) => path === undefined)) {
      throw new MrlmError("CONFIG_INVALID", "sft has neither `data` nor an environment to take demonstrations from.", {
        hint: "Name a file in `data`, or an environment under `environments`.",
      });
    }
    const silent = sources.every(({ path }) => path !== undefined)
      ? []
      : environments.filter(({ hasDemonstrations }) => !hasDemonstrations);
    if (silent.length > 0) {
      throw new MrlmError(
        "CONFIG_INVALID",
        `sft is to learn from demonstrations, and there are none in ${silent.map(({ ref }) => ref.id).join(" and ")}.`,
        {
          hint: "Name a file in `data`, leave that environment out, or give it worked solutions (`answer` of `singleTurn`, `solve` of `toolEnvironment` and `agentEnvironment`, else `demonstrate`); a server gives demonstrations with `mrlm serve --demonstrations`.",
        },
      );
    }
    if (sources.some((source) => source.action_weight === 0 && source.observation_weight === 0)) {
      throw new MrlmError(
        "CONFIG_INVALID",
        "action_weight and observation_weight are both 0: the loss would be constant.",
        { hint: "Set action_weight: 1 to imitate, observation_weight: 1 for a world model, or both." },
      );
    }
  },
  create: startSft,
};

export default definePlugin({
  name: "@mrlm/sft",
  algorithms: [sft],
  examples: {
    algorithms: {
      "sft@1": {
        options: { steps: 12, batch_size: 8, learning_rate: 0.3 },
        metric: "loss/nll",
        change: -0.5,
        invalid: [{ batch_size: 0 }, { data: [] }],
      },
    },
  },
});
