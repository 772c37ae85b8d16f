import { isDeepStrictEqual } from "node:util";
import { judgementsOf } from "@mrlm/kit/learning";
import { type AgentId, MrlmError, type Reward, type Trajectory } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentRef, JudgementRecord } from "@mrlm/spec/host";
import { totalReward } from "../rollouts/episode-record.ts";

/** Result of a repeated episode. */
export interface JudgedAgain {
  /** Total reward of each agent that the episode has. */
  readonly totals: Readonly<Record<AgentId, Reward>>;
  readonly judgements: readonly JudgementRecord[];
}

/**
 * Repeats the actions of a stored episode in its environment, without a model, so that the environment builds its requests to judges and scorers itself, and its rewards from the
 * answers. Rejects with ENVIRONMENT_FAILED if an observation differs from the stored one.
 */
export async function judgeAgain(
  host: EnvironmentHost,
  environment: EnvironmentRef,
  { id, task, seed, turns, agents }: Trajectory,
  signal: AbortSignal,
): Promise<JudgedAgain> {
  const session = await host.open(environment);
  try {
    const rewards = new Map<AgentId, Reward[]>(Object.keys(agents).map((agent) => [agent, []]));
    const judgements: JudgementRecord[] = [];
    let observation = await session.reset({ task, ...(seed === null ? {} : { seed }), signal });
    for (const [step, turn] of turns.entries()) {
      const { agent, messages, response, stopReason } = turn;
      if (observation.agent !== agent || !isDeepStrictEqual(observation.messages, messages))
        throw new MrlmError(
          "ENVIRONMENT_FAILED",
          `Environment ${session.description.id} does not give the observations of episode ${id} again, from step ${step} on.`,
          { hint: "Its options, its data or its version differ from those of the run, or it is not deterministic." },
        );
      const finishReason = stopReason === "length" || stopReason === "exhausted" ? stopReason : "stop";
      const result = await session.step({ agent, message: response, finishReason }, { signal });
      for (const [earner, reward] of Object.entries(result.rewards))
        rewards.set(earner, [...(rewards.get(earner) ?? []), reward]);
      judgements.push(...judgementsOf(result));
      ({ observation } = result);
    }
    return { totals: Object.fromEntries([...rewards].map(([agent, each]) => [agent, totalReward(each)])), judgements };
  } finally {
    await session.close();
  }
}
