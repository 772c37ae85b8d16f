import { isDeepStrictEqual } from "node:util";
import {
  type AgentTrajectory,
  type BranchRecord,
  MrlmError,
  type Observation,
  type Segment,
  type Trajectory,
  type TurnRecord,
} from "@mrlm/spec";
import type { RolloutRequest, SampleResult } from "@mrlm/spec/host";
import type { BranchStart, EpisodePlan } from "./episode-plan.ts";
import { totalReward } from "./episode-record.ts";

/**
 * Returns the plans of the branches of an episode, none if it failed. Their places in the order are behind that of the episode and before that of the next one.
 *
 * Which turns have branches follows from their numbers alone. A choice by what came later, such as the length of the episode, would make baselines depend on
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
    const { player } = trajectory.agents[agent] as AgentTrajectory;
    if (tokens === undefined || player.kind !== "policy" || !policies.includes(player.policy as string)) return [];
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
  const { tokens, logprobs, versions } = branch.of.agents[agent]?.segments[segment] as Segment;
  return {
    tokens: tokens.slice(start, end),
    logprobs: logprobs.slice(start, end),
    versions: versions.slice(start, end),
    stopReason,
    truncatedSupport: false,
  };
}

/** Throws BRANCH_DIVERGED unless the observation before the first own turn of a branch is the recorded one. */
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

/** Throws BRANCH_DIVERGED where the last turn of a branch repeats a recorded one and differs from it. */
export function assertRepeated(branch: BranchStart, turns: readonly TurnRecord[]): void {
  const turn = turns.length - 1;
  if (turn >= branch.turn) return;
  if (!isDeepStrictEqual(turns[turn], branch.of.turns[turn])) throw diverged(branch, turn);
}

/** Throws BRANCH_DIVERGED where a branch ended among the turns that it repeats. */
export function assertReached(branch: BranchStart, turns: number): void {
  if (turns <= branch.turn) throw diverged(branch, turns);
}

/** Returns the record of a branch that was played. */
export function branchRecord({ turn }: BranchStart, { turns, agents, error }: Trajectory): BranchRecord {
  const own = turns.slice(turn);
  const played = {
    turns: own.length,
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
    "BRANCH_DIVERGED",
    `Environment ${of.environment} promises determinism "full", and turn ${turn + 1} of episode ${of.id} differed when a branch repeated its actions.`,
  );
}
