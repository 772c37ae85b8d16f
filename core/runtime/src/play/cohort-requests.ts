import type { Cohort, RolloutRequest } from "@mrlm/spec/host";
import { defined, MrlmError, type PolicyId, type RolloutSampling, type TrainingEnvironment } from "@mrlm/spec";

/** Training environment with the players of its roles. */
export interface PlayedEnvironment extends TrainingEnvironment, Pick<RolloutRequest, "sides" | "rewardSharing"> {
  /** Default: the learner's policy plays every role. */
  readonly players?: RolloutRequest["players"];
}

/** Facts of a stage that decide how its cohorts are played. */
export interface StageFacts {
  /** Plays the roles of environments that name no players. */
  readonly policy: PolicyId;
  readonly sampling: RolloutSampling;
  /** Sampling of the policies that have their own. */
  readonly policySampling?: RolloutRequest["policySampling"];
  readonly environments: readonly PlayedEnvironment[];
  readonly branches?: RolloutRequest["branches"];
}

/** Groups that are played together, before they have ids. */
export type PlayedTasks = Pick<RolloutRequest, "tasks" | "groupSize" | "label"> & {
  readonly occurrences: readonly number[];
  /** Index of the environment in the configuration. */
  readonly environment: number;
  readonly versions: Cohort["versions"];
};

/** Returns the request that plays some groups of a stage. */
export function stageRequest(stage: StageFacts, { environment: index, ...groups }: PlayedTasks): RolloutRequest {
  const { policy, sampling, policySampling, environments, branches } = stage;
  const environment = environments[index];
  if (environment === undefined)
    throw new MrlmError("STORE_CONFLICT", `A cohort is of environment ${index}, and the configuration has fewer.`, {
      hint: "The store is of another run. Give each run its own directory.",
    });
  const { ref, players = policy, sides = "fixed", rewardSharing = {} } = environment;
  const own = defined({ policySampling, branches });
  return { environment: ref, players, sides, rewardSharing, sampling, ...own, ...groups };
}

/** Returns the request that plays a cohort, in any process of the run. */
export function cohortRequest(stage: StageFacts, { id, place, groups, versions }: Cohort): RolloutRequest {
  const sizes = new Set(groups.map(({ size }) => size));
  if (sizes.size !== 1) throw new MrlmError("STORE_CONFLICT", `Cohort ${id} has groups of ${sizes.size} sizes.`);
  const [groupSize] = sizes as unknown as [number];
  return stageRequest(stage, {
    environment: place[0],
    label: id.slice(0, id.lastIndexOf("/")),
    tasks: groups.map(({ task }) => task),
    // The ids of groups end with the task, and with the occurrence where there are several.
    occurrences: groups.map((group) =>
      Number(/#(\d+)$/.exec(group.id.slice(group.id.lastIndexOf(group.task)))?.[1] ?? 0),
    ),
    groupSize,
    versions,
  });
}
