import type { AgentId, Reward } from "@mrlm/kit";

/** Returns the agent with the highest reward, `tie` where several have it, and `undecided` where a reward is missing. */
export function verdictOf(rewards: Readonly<Record<AgentId, Reward>>): string {
  const entries = Object.entries(rewards);
  const scored = entries.flatMap(([agent, reward]) => (reward.scored ? [{ agent, value: reward.value }] : []));
  if (scored.length < entries.length) return "undecided";
  const best = Math.max(...scored.map(({ value }) => value));
  const [winner, other] = scored.filter(({ value }) => value === best);
  return winner === undefined || other !== undefined ? "tie" : winner.agent;
}
