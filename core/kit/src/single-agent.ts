import {
  SINGLE_AGENT,
  type JsonObject,
  type Message,
  type Observation,
  type Reward,
  type StepResult,
  type ToolDefinition,
} from "@mrlm/spec";

/** What the only agent of an environment gets to see. */
export function observe(
  messages: readonly Message[],
  extra: { readonly tools?: readonly ToolDefinition[]; readonly info?: JsonObject } = {},
): Observation {
  return { agent: SINGLE_AGENT, messages, ...extra };
}

/** A step's result for the only agent of an environment. */
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
    ...(step.info === undefined ? {} : { info: step.info }),
  };
}
