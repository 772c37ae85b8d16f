import { type AgentId, type AgentTrajectory, roleOf, score, unscored } from "@mrlm/spec";
import { MAX_REWARD, type RewardSharing, type SharedReward } from "@mrlm/spec/host";
import { ownMember } from "../names/own-member.ts";

type Agents = Readonly<Record<AgentId, AgentTrajectory>>;

/** Adds the shared reward to the parts of an episode whose roles learn from other rewards than their own. */
export function shareRewards(agents: Agents, sharing: RewardSharing): Agents {
  return Object.fromEntries(
    Object.entries(agents).map(([agent, part]) => {
      const row = ownMember(sharing, part.role);
      return [
        agent,
        row === undefined ? part : { ...part, shared: sharedReward(agents, agentWeights(agent, row, agents)) },
      ];
    }),
  );
}

/** Returns the weights of agents by a row of the matrix, without those of 0. */
function agentWeights(agent: AgentId, row: RewardSharing[string], agents: Agents): SharedReward["weights"] {
  const own = roleOf(agent);
  return Object.fromEntries(
    Object.keys(agents).flatMap((other) => {
      const role = roleOf(other);
      const weight = ownMember(row, role) ?? 0;
      if (weight === 0 || (role === own && other !== agent)) return [];
      const count = role === own ? 1 : Object.keys(agents).filter((each) => roleOf(each) === role).length;
      return [[other, weight / count]];
    }),
  );
}

function sharedReward(agents: Agents, weights: SharedReward["weights"]): SharedReward {
  let value = 0;
  for (const [agent, weight] of Object.entries(weights)) {
    const { total } = agents[agent] as AgentTrajectory;
    if (!total.scored)
      return { ...unscored(total.code, `The reward of "${agent}" is shared: ${total.message}`), weights };
    value += weight * total.value;
  }
  if (Math.abs(value) <= MAX_REWARD) return { ...score(value), weights };
  return {
    ...unscored("ENVIRONMENT_FAILED", `The shared rewards add up to ${value}, more than ${MAX_REWARD} from 0.`),
    weights,
  };
}
