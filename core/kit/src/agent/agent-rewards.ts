import { type AgentId, isObject, type JsonObject, MrlmError, type Reward, roleOf, score, unscored } from "@mrlm/spec";
import type { AgentDefinition, AgentEnding } from "./types.ts";

/** Returns the rewards of the agents of an ended program. @param fault fault of the gateway, with which nothing is scored */
export async function agentRewards<Options, Public extends JsonObject, Private extends JsonObject, Opened>(
  definition: AgentDefinition<Options, Public, Private, Opened>,
  agents: readonly AgentId[],
  fault: unknown,
  ending: AgentEnding<Options, Public, Private, Opened>,
): Promise<Readonly<Record<AgentId, Reward>>> {
  const all = (reward: Reward): Record<AgentId, Reward> => Object.fromEntries(agents.map((agent) => [agent, reward]));
  if (fault !== undefined) return all(unscored("INTERNAL", `A call of the program failed: ${String(fault)}`));
  let scored: Awaited<ReturnType<typeof definition.score>>;
  try {
    scored = await definition.score(ending);
  } catch (error) {
    const code = MrlmError.isInstance(error) ? error.code : "AGENT_SCORE_FAILED";
    return all(unscored(code, `\`score\` threw: ${error instanceof Error ? error.message : String(error)}`));
  }
  if (scored === undefined && ending.end.kind !== "returned") {
    const { rewardRange = [0, 1] } = definition;
    return all(score((typeof rewardRange === "function" ? rewardRange(ending.options) : rewardRange)[0]));
  }
  if (isReward(scored)) return all(rewardOf(scored));
  const given: Readonly<Record<string, number | Reward>> = isObject(scored) ? scored : {};
  return Object.fromEntries(
    agents.map((agent) => {
      const own = given[agent] ?? given[roleOf(agent)];
      const missing = unscored("AGENT_SCORE_FAILED", `\`score\` returned no reward for the agent ${agent}.`);
      return [agent, own === undefined ? missing : rewardOf(own)];
    }),
  );
}

function isReward(value: unknown): value is number | Reward {
  return typeof value === "number" || (isObject(value) && typeof value["scored"] === "boolean");
}

function rewardOf(given: number | Reward): Reward {
  if (typeof given !== "number") return given;
  return Number.isFinite(given) ? score(given) : unscored("AGENT_SCORE_FAILED", `\`score\` returned ${given}.`);
}
