import type { JsonObject, StepResult } from "@mrlm/spec";

/** Returns the facts of a step for which a protocol has no place of its own. */
export function stepDetails(agent: string, { rewards, terminated, truncated }: StepResult): JsonObject {
  const reward = rewards[agent];
  return {
    terminated: terminated[agent] === true,
    truncated: truncated[agent] === true,
    ...(reward?.scored === true && { reward: reward.value, components: reward.components }),
    ...(reward?.scored === false && { unscored: { code: reward.code, message: reward.message } }),
  };
}
