import { Command } from "@commander-js/extra-typings";
import { type OptionsOf, declareTrainingFlags, addFlags } from "./flag-groups.ts";

export function declareLaunch() {
  const launch = new Command("launch").description(
    "train as a configuration specifies, and start the processes of its `parts` beside it by its `launcher`: rollout workers, samplers, environment servers, a store server",
  );
  return addFlags(launch, declareTrainingFlags());
}
export type LaunchOptions = OptionsOf<typeof declareLaunch>;
