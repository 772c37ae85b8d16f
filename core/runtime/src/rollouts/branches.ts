import { isDeepStrictEqual } from "node:util";
import { isPlayedBy, learntReward } from "@mrlm/kit/learning";
import {
  type AgentTrajectory,
  MrlmError,
  type Observation,
  type Segment,
  type Trajectory,
  type TurnRecord,
} from "@mrlm/spec";
import type { RolloutRequest, SampleResult } from "@mrlm/spec/host";
import type { BranchStart, EpisodePlan } from "./episode-plan.ts";
import { totalReward } from "./episode-record.ts";

/** Record of a branch in a turn of its episode. */
export type BranchRecord = NonNullable<TurnRecord["branches"]>[number];

/**
 * Returns the plans of the branches of an episode, none of agents from whose part nothing is learnt. Their places in the order are behind that of the episode and before that of the next one.
 *
 * The number of a turn alone decides whether it has branches. A choice by what came later, such as the length of the episode, would make baselines depend on
 * the actions whose log-probabilities they multiply.
 */
export function branchPlans(
  plan: EpisodePlan,
  trajectory: Trajectory,
  { count, every, policies }: NonNullable<RolloutRequest["branches"]>,
): EpisodePlan[] {
  if (trajectory.error !== undefined) return [];
  const own = new Map<string, number>();
  const starts = trajectory.turns.flatMap(({ agent, tokens }, turn) => {
    const part = trajectory.agents[agent] as AgentTrajectory;
    const isLearnt = learntReward(part).scored && policies.some((policy) => isPlayedBy(part, policy));
    if (tokens === undefined || !isLearnt) return [];
    const number = own.get(agent) ?? 0;
    own.set(agent, number + 1);
    return turn > 0 && number % every === 0 ? [turn] : [];
  });
  const total = starts.length * count;
  return starts.flatMap((turn, i) =>
    Array.from({ length: count }, (_, index): EpisodePlan => {
      const name = `${turn}.${index}`;
      return {
        ...plan,
        identity: { ...plan.identity, branch: name },
        id: `${plan.id}/branch/${name}`,
        order: plan.order + (i * count + index + 1) / (total + 1),
        branch: { of: trajectory, turn },
      };
    }),
  );
}

/** Returns the recorded tokens of a turn that a branch repeats; `undefined` for its own turns. */
export function repeatedSample(branch: BranchStart, turn: number): SampleResult | undefined {
  if (turn >= branch.turn) return undefined;
  const { agent, tokens: span, stopReason } = branch.of.turns[turn] as TurnRecord;
  // The other turn is no sampled one where the environment answered otherwise.
  if (span === undefined || stopReason === "exhausted") throw diverged(branch, turn);
  const { segment, start, end } = span;
  const { tokens, logprobs, versions } = (branch.of.agents[agent] as AgentTrajectory).segments[segment] as Segment;
  return {
    tokens: tokens.slice(start, end),
    logprobs: logprobs.slice(start, end),
    versions: versions.slice(start, end),
    stopReason,
    truncatedSupport: false,
  };
}

/** Throws ENVIRONMENT_FAILED unless the observation before the first own turn of a branch is the recorded one. */
export function assertSameState(branch: BranchStart, turn: number, observation: Observation): void {
  if (turn !== branch.turn) return;
  const { agent, messages, isFresh, tools, state } = branch.of.turns[turn] as TurnRecord;
  const { stateKey } = observation.info ?? {};
  const shown = { ...observation, state: typeof stateKey === "string" ? stateKey : undefined };
  const isSame =
    shown.agent === agent &&
    isDeepStrictEqual(shown.messages, messages) &&
    (shown.isFresh ?? false) === (isFresh ?? false) &&
    isDeepStrictEqual(shown.tools, tools) &&
    shown.state === state;
  if (!isSame) throw diverged(branch, turn);
}

/** Throws ENVIRONMENT_FAILED where the last turn of a branch repeats a recorded one and differs from it. */
export function assertRepeated(branch: BranchStart, turns: readonly TurnRecord[]): void {
  const turn = turns.length - 1;
  if (turn >= branch.turn) return;
  if (!isDeepStrictEqual(turns[turn], branch.of.turns[turn])) throw diverged(branch, turn);
}

/** Throws ENVIRONMENT_FAILED where a branch ended among the turns that it repeats. */
export function assertReached(branch: BranchStart, turns: number): void {
  if (turns <= branch.turn) throw diverged(branch, turns);
}

/** Returns the record of a branch that was played. */
export function branchRecord({ branch, states }: EpisodePlan, { turns, agents, error }: Trajectory): BranchRecord {
  const { turn } = branch as BranchStart;
  const own = turns.slice(turn);
  const played = {
    turns: own.length,
    repeated: states === undefined ? turn : 0,
    tokens: own.reduce((sum, { tokens }) => sum + (tokens === undefined ? 0 : tokens.end - tokens.start), 0),
  };
  if (error !== undefined) return { rewards: {}, ...played, error };
  const rewards = Object.entries(agents).map(([agent, { total }]) => [
    agent,
    total.scored ? totalReward(own.flatMap((each) => each.rewards[agent] ?? [])) : total,
  ]);
  return { rewards: Object.fromEntries(rewards), ...played };
}

/** Returns the episode with the records of its branches, by turn. */
export function withBranches(
  trajectory: Trajectory,
  branches: ReadonlyMap<number, readonly BranchRecord[]>,
): Trajectory {
  const turns = trajectory.turns.map((turn, i) => {
    const own = branches.get(i);
    return own === undefined ? turn : { ...turn, branches: own };
  });
  return { ...trajectory, turns };
}

function diverged({ of }: BranchStart, turn: number): MrlmError {
  return new MrlmError(
    "ENVIRONMENT_FAILED",
    `Turn ${turn + 1} of episode ${of.id} differed when a branch repeated its actions: environment ${of.environment}, or a script in it, is not deterministic.`,
  );
}
