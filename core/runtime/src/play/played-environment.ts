import type { RolloutRequest, TrainingEnvironment } from "@mrlm/spec";

/** Training environment with the players of its roles. */
export interface PlayedEnvironment extends TrainingEnvironment, Pick<RolloutRequest, "sides" | "rewardSharing"> {
  /** Default: the learner's policy plays every role. */
  readonly players?: RolloutRequest["players"];
}
