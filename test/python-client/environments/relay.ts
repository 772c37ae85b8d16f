import { defineEnvironment, randomStream, textMessage } from "@mrlm/kit";
import { type AgentId, type Observation, score, type SimulatedEnvironment, type StepResult } from "@mrlm/spec";

const ROLES = ["one", "two", "three"];

/** Totals of each agent, whatever the agents write. */
const TOTALS = { one: 0, two: 2, three: 3 };

/** Three agents write in turn. The first ends after one turn, the second after two, the third after three. Each turn earns 1 for every other agent that has not ended. */
export const relay = defineEnvironment({
  id: "relay@1",
  description: "Three agents that end one after the other.",
  determinism: "full",
  roles: Object.fromEntries(ROLES.map((role) => [role, {}])),
  rewardRange: [0, 3],
  create: (): SimulatedEnvironment => {
    let round = 0;
    let left: Record<AgentId, number>;
    const observe = (agent: AgentId): Observation => ({
      agent,
      messages: [textMessage("user", `round ${round}, turns left: ${left[agent]}`)],
    });
    return {
      async reset({ seed = 0 }) {
        round = randomStream("round", seed).integer(1, 1_000);
        left = Object.fromEntries(ROLES.map((role, i) => [role, i + 1]));
        return observe("one");
      },
      async step({ agent, finishReason }): Promise<StepResult> {
        const others = ROLES.filter((role) => role !== agent && (left[role] as number) > 0);
        left[agent] = finishReason === "exhausted" ? 0 : (left[agent] as number) - 1;
        const living = ROLES.filter((role) => (left[role] as number) > 0);
        const later = living.filter((role) => ROLES.indexOf(role) > ROLES.indexOf(agent));
        const next = later[0] ?? living[0];
        return {
          observation: next === undefined ? { agent: "", messages: [] } : observe(next),
          rewards: Object.fromEntries(others.map((role) => [role, score(1)])),
          // The host truncates an agent whose context is full.
          terminated: { [agent]: left[agent] === 0 && finishReason !== "exhausted" },
          truncated: {},
        };
      },
    };
  },
  fixtures: (["gold", "nop", "cheat", "malformed", "determinism"] as const).map((kind, seed) => ({
    name: `a relay (${kind})`,
    kind,
    seed,
    policy: () => (kind === "nop" ? "" : kind),
    reward: TOTALS,
  })),
});
