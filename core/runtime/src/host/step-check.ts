import type { AgentId, Observation, StepResult } from "@mrlm/spec";
import { validateResult } from "./validate-result.ts";

/** Checked value, or its fault. */
export type Checked<T> = { readonly value: T } | { readonly problem: string };

/** Checks the first observation of an episode: an agent of the environment must be on turn. */
export function checkObservation(returned: unknown, agents: readonly AgentId[]): Checked<Observation> {
  const checked = validateResult<Observation>("observation", returned);
  if ("problem" in checked || agents.includes(checked.value.agent)) return checked;
  return { problem: `agent: "${checked.value.agent}" is not one of the environment's agents (${agents.join(", ")})` };
}

/**
 * Checks the result of a step and adds a flag for every agent. An agent that has ended stays ended. After all have ended, no agent is on turn.
 * @param ended agents that had ended before this step
 */
export function checkStep(
  returned: unknown,
  agents: readonly AgentId[],
  ended: ReadonlySet<AgentId>,
): Checked<StepResult> {
  const checked = validateResult<StepResult>("stepResult", returned);
  if ("problem" in checked) return checked;
  const result = checked.value;
  for (const field of ["rewards", "terminated", "truncated"] as const) {
    const stranger = Object.keys(result[field]).find((agent) => !agents.includes(agent));
    if (stranger !== undefined)
      return { problem: `${field}: "${stranger}" is not one of the environment's agents (${agents.join(", ")})` };
  }
  const flags = (field: "terminated" | "truncated"): Record<AgentId, boolean> =>
    Object.fromEntries(agents.map((agent) => [agent, result[field][agent] ?? false]));
  const terminated = flags("terminated");
  const truncated = flags("truncated");
  const isOver = (agent: AgentId): boolean =>
    ended.has(agent) || terminated[agent] === true || truncated[agent] === true;
  const next = result.observation.agent;
  if (agents.every(isOver))
    return { value: { ...result, terminated, truncated, observation: { ...result.observation, agent: "" } } };
  if (!agents.includes(next))
    return {
      problem: `observation.agent: "${next}" is not one of the agents that have yet to act (${agents.filter((agent) => !isOver(agent)).join(", ")})`,
    };
  if (isOver(next)) return { problem: `observation.agent: "${next}" has already ended` };
  return { value: { ...result, terminated, truncated } };
}
