import type { AgentId, Observation, StepResult } from "@mrlm/spec";
import { agentFault, type Roles } from "./roles.ts";
import { validateResult } from "./validate-result.ts";

/** Checked value, or its fault. */
export type Checked<T> = { readonly value: T } | { readonly problem: string };

/** Agents of an episode before a step. */
export interface Participants {
  readonly roles: Roles;
  /** Agents that exist. */
  readonly agents: readonly AgentId[];
  readonly ended: ReadonlySet<AgentId>;
  /** Agents whose context is full, including the one that acts in this step. */
  readonly exhausted: ReadonlySet<AgentId>;
}

/** Checks the first observation of an episode: an agent of the environment must be on turn. */
export function checkObservation(returned: unknown, roles: Roles): Checked<Observation> {
  const checked = validateResult<Observation>("observation", returned);
  if ("problem" in checked) return checked;
  const fault = agentFault(checked.value.agent, roles);
  return fault === undefined ? checked : { problem: `agent: ${fault}` };
}

/**
 * Checks the result of a step and adds a flag for every agent that exists after it. An agent that has ended stays ended; an exhausted one is truncated, unless the
 * environment terminates it. After all agents have ended no agent is on turn, except where a role with `many` can bring another one.
 */
export function checkStep(returned: unknown, { roles, agents, ended, exhausted }: Participants): Checked<StepResult> {
  const checked = validateResult<StepResult>("stepResult", returned);
  if ("problem" in checked) return checked;
  const result = checked.value;
  const existing = [...agents];
  const join = (agent: AgentId): string | undefined => {
    if (existing.includes(agent)) return undefined;
    existing.push(agent);
    return agentFault(agent, roles);
  };
  for (const field of ["rewards", "terminated", "truncated"] as const) {
    for (const agent of Object.keys(result[field])) {
      const fault = join(agent);
      if (fault !== undefined) return { problem: `${field}: ${fault}` };
    }
  }
  const { agent: next } = result.observation;
  const fault = next === "" ? undefined : join(next);
  if (fault !== undefined) return { problem: `observation.agent: ${fault}` };
  const terminated: Record<AgentId, boolean> = {};
  const truncated: Record<AgentId, boolean> = {};
  for (const agent of existing) {
    terminated[agent] = result.terminated[agent] ?? false;
    const isExhausted = exhausted.has(agent) && !ended.has(agent) && !terminated[agent];
    truncated[agent] = isExhausted || (result.truncated[agent] ?? false);
  }
  const isOver = (agent: AgentId): boolean =>
    ended.has(agent) || terminated[agent] === true || truncated[agent] === true;
  const value = { ...result, terminated, truncated };
  const living = existing.filter((agent) => !isOver(agent));
  if (living.length === 0 && !Object.values(roles).some(({ many }) => many === true))
    return { value: { ...value, observation: { ...result.observation, agent: "" } } };
  if (next === "" && living.length > 0)
    return {
      problem: `observation.agent: "" ends the episode, but ${living.join(", ")} neither terminated nor truncated`,
    };
  if (exhausted.has(next))
    return { problem: `observation.agent: "${next}" is exhausted: its context is full, and it takes no further turn` };
  if (next !== "" && isOver(next)) return { problem: `observation.agent: "${next}" has already ended` };
  return { value };
}
