import {
  defined,
  type JsonObject,
  type Message,
  type Observation,
  type Reward,
  score,
  SINGLE_AGENT,
  type StepResult,
  type ToolDefinition,
} from "@mrlm/spec";

/** Returns an observation of the agent of a single-agent environment. */
export function observe(
  messages: readonly Message[],
  extra: { readonly tools?: readonly ToolDefinition[]; readonly info?: JsonObject } = {},
): Observation {
  return { agent: SINGLE_AGENT, messages, ...extra };
}

/** Returns the result of a step in a single-agent environment. Without `reward` the agent has earned 0. */
export function singleStep(step: {
  readonly messages?: readonly Message[];
  readonly reward?: Reward;
  readonly terminated?: boolean;
  readonly truncated?: boolean;
  readonly info?: JsonObject;
}): StepResult {
  const terminated = step.terminated ?? false;
  const truncated = step.truncated ?? false;
  return {
    observation: { agent: terminated || truncated ? "" : SINGLE_AGENT, messages: step.messages ?? [] },
    rewards: step.reward === undefined ? {} : { [SINGLE_AGENT]: step.reward },
    terminated: { [SINGLE_AGENT]: terminated },
    truncated: { [SINGLE_AGENT]: truncated },
    ...defined({ info: step.info }),
  };
}

/** Returns the last step of an episode, with its reward: a number is one without components. */
export function scoredEnd(reward: number | Reward): StepResult {
  return singleStep({ reward: typeof reward === "number" ? score(reward) : reward, terminated: true });
}
