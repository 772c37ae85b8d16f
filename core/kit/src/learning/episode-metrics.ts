import type { AgentTrajectory, Metrics, PolicyId, RoleId, Trajectory, TrajectoryGroup } from "@mrlm/spec";
import { agentMetrics } from "./program-calls.ts";
import { answerMetrics } from "./answer-metrics.ts";
import { type EpisodeCounts, isLearnt, isPlayedBy } from "./learnable-episodes.ts";
import { matchesOf, matchParts, ZeroSum } from "./matches.ts";
import { meanOf } from "./mean.ts";
import { policyRoles } from "./policy-roles.ts";
import { standardDeviation } from "./standard-deviation.ts";
import { ToolUsageTally } from "./tool-usage.ts";

/**
 * Returns metrics of the episodes of an iteration. Rewards, lengths and ends are those of the parts that the policy played. Where it plays several roles of a
 * group, rewards are by role: `reward/ROLE/mean`. Where roles share rewards, `shared_mean` is the mean of what is learnt from. Lengths count sampled tokens, not prompts.
 */
export function episodeMetrics(
  groups: readonly TrajectoryGroup[],
  counts: EpisodeCounts,
  { policy }: { readonly policy: PolicyId },
): Metrics {
  const played = groups.flatMap((group) => group.trajectories.filter((trajectory) => trajectory.error === undefined));
  const agents = played.flatMap((trajectory) =>
    Object.values(trajectory.agents).filter((part) => isPlayedBy(part, policy)),
  );
  const turns = played.flatMap((trajectory) =>
    trajectory.turns.filter(
      ({ agent, stopReason }) =>
        stopReason !== "exhausted" && isPlayedBy(trajectory.agents[agent] as AgentTrajectory, policy),
    ),
  );
  const roles = policyRoles(groups, policy);
  return {
    ...(roles.length === 0
      ? rewardMetrics(agents, "reward")
      : Object.assign(
          {},
          ...roles.map((role) =>
            rewardMetrics(
              agents.filter((part) => part.role === role),
              `reward/${role}`,
            ),
          ),
        )),
    "episodes/played": groups.reduce((sum, { trajectories }) => sum + trajectories.length, 0),
    ...(agents.length > played.length ? { "agents/played": agents.length } : {}),
    "episodes/failed": counts.failed,
    "episodes/unscored": counts.unscored,
    "episodes/stale": counts.stale,
    "episodes/masked": counts.cut,
    "tokens/non_finite": counts.nonFiniteTokens,
    "length/mean": meanOf(
      agents.map(({ segments }) =>
        segments.reduce((sum, { versions }) => versions.reduce((total, each) => total + Number(each >= 0), sum), 0),
      ),
    ),
    "length/cut": meanOf(turns.map(({ stopReason }) => Number(stopReason === "length"))),
    "episodes/truncated": meanOf(agents.map(({ end }) => Number(end.truncated))),
    ...sampledTokens(agents),
    "turns/mean": meanOf(played.map((trajectory) => trajectory.turns.length)),
    ...sideMetrics(agents, roles),
    ...gameMetrics(played, policy),
    ...toolMetrics(played),
    ...agentMetrics(played),
    ...answerMetrics(groups, policy),
  };
}

/** Returns the share of each role in the parts of a policy that plays one role of a group, not always the same. */
function sideMetrics(parts: readonly AgentTrajectory[], measuredApart: readonly RoleId[]): Metrics {
  const counts = Map.groupBy(parts, ({ role }) => role);
  if (measuredApart.length > 0 || counts.size < 2) return {};
  return Object.fromEntries(
    [...counts].map(([role, own]) => [`sides/${role}`, { sum: own.length, count: parts.length }]),
  );
}

/** Returns the shares of won and of equal games by role and kind of opponent, where every episode is one of a zero-sum game: its mean reward is always 0. */
function gameMetrics(played: readonly Trajectory[], policy: PolicyId): Metrics {
  const zeroSum = new ZeroSum();
  const games = played.map((trajectory) => {
    const parts = matchParts(trajectory);
    zeroSum.add(parts);
    return matchesOf(parts);
  });
  if (!zeroSum.holds) return {};
  const own = games
    .flat()
    .filter(({ player: { kind, name }, points }) => kind === "policy" && name === policy && points !== null);
  const kinds = Map.groupBy(own, ({ role, opponent }) => `${role}/${opponent.kind}`);
  return Object.fromEntries(
    [...kinds].flatMap(([kind, matches]) => [
      [`wins/${kind}`, meanOf(matches.map(({ points }) => Number(points === 1)))],
      [`ties/${kind}`, meanOf(matches.map(({ points }) => Number(points === 0.5)))],
    ]),
  );
}

/** Returns metrics of the calls of tools in whole episodes, of any agent. */
function toolMetrics(played: readonly Trajectory[]): Metrics {
  const tally = new ToolUsageTally();
  for (const trajectory of played) tally.add(trajectory);
  return tally.metrics();
}

function rewardMetrics(parts: readonly AgentTrajectory[], prefix: string): Metrics {
  const scored = parts.flatMap(({ total }) => (total.scored ? [total] : []));
  const shared = parts.flatMap((part) => (part.shared?.scored === true ? [part.shared.value] : []));
  const rewards = scored.map(({ value }) => value);
  const components = [...new Set(scored.flatMap((total) => Object.keys(total.components)))].sort();
  return {
    [`${prefix}/mean`]: meanOf(rewards),
    [`${prefix}/std`]: standardDeviation(rewards),
    ...Object.fromEntries(
      components.map((name) => [`${prefix}/${name}`, meanOf(scored.flatMap((total) => total.components[name] ?? []))]),
    ),
    ...(parts.some((part) => part.shared !== undefined)
      ? { [`${prefix}/shared_mean`]: meanOf(shared), [`${prefix}/shared_std`]: standardDeviation(shared) }
      : {}),
  };
}

/**
 * Returns metrics of the sampled tokens: the mean of -logp, which estimates the entropy of the policy in nats per token, and the difference between the
 * newest and the oldest weight version.
 */
function sampledTokens(agents: readonly AgentTrajectory[]): Metrics {
  let [sum, count, oldest, newest] = [0, 0, Number.POSITIVE_INFINITY, 0];
  for (const segment of agents.flatMap(({ segments }) => segments)) {
    const { logprobs, versions } = segment;
    for (let t = 0; t < logprobs.length; t++) {
      if (!isLearnt(segment, t)) continue;
      sum -= logprobs[t] as number;
      count++;
      oldest = Math.min(oldest, versions[t] as number);
      newest = Math.max(newest, versions[t] as number);
    }
  }
  return count === 0 ? {} : { "entropy/sampled": { sum, count }, "versions/lag": newest - oldest };
}
