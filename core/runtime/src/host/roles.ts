import {
  type AgentId,
  type EnvironmentDefinition,
  MrlmError,
  type Role,
  type RoleId,
  roleOf,
  SINGLE_AGENT,
} from "@mrlm/spec";
import { quoted } from "../names/nearest.ts";
import { resolvedProperty } from "./resolved-definition.ts";

/** Roles of an environment by id. */
export type Roles = Readonly<Record<RoleId, Role>>;

/** Form of the ids of roles: they are part of agents' ids (`role#n`) and of metric names (`reward/role/mean`). */
const ROLE_ID = /^[A-Za-z][A-Za-z0-9_-]*$/;
const AGENT_NUMBER = /^#[1-9][0-9]*$/;

/**
 * Returns the roles of a definition without fields that state a default. Roles that depend on options are one agent without them. Throws PLUGIN_INVALID for
 * none, or an id of another form.
 */
export function rolesOf(definition: EnvironmentDefinition, options?: unknown): Roles {
  const { id } = definition;
  const roles = chosenRoles(definition, options);
  const ids = Object.keys(roles);
  if (ids.length === 0)
    throw new MrlmError("PLUGIN_INVALID", `Environment ${id} defines no roles.`, {
      hint: `Leave out \`roles\` for one agent with the id "${SINGLE_AGENT}".`,
    });
  const wrong = ids.find((role) => !ROLE_ID.test(role));
  if (wrong !== undefined)
    throw new MrlmError("PLUGIN_INVALID", `Environment ${id} defines the role ${quoted(wrong)}.`, {
      hint: "The id of a role begins with a letter and has letters, digits, _ and - only.",
    });
  return Object.fromEntries(
    Object.entries(roles).map(([role, { description, many }]) => [
      role,
      { ...(description ? { description } : {}), ...(many === true ? { many } : {}) },
    ]),
  );
}

function chosenRoles(definition: EnvironmentDefinition, options: unknown): Roles {
  const { roles } = definition;
  const isSingle = roles === undefined || (typeof roles === "function" && options === undefined);
  return isSingle ? { [SINGLE_AGENT]: {} } : (resolvedProperty(definition, "roles", options) as Roles);
}

/** Returns the agents that exist at the start of an episode: one for each role without `many`. */
export function firstAgents(roles: Roles): AgentId[] {
  return Object.keys(roles).filter((role) => roles[role]?.many !== true);
}

/** Returns the fault of an agent's id under these roles; `undefined` if it has none. */
export function agentFault(agent: AgentId, roles: Roles): string | undefined {
  const role = roleOf(agent);
  if (!Object.hasOwn(roles, role))
    return `${quoted(agent)} is in none of the environment's roles (${Object.keys(roles).join(", ")})`;
  if (roles[role]?.many === true)
    return AGENT_NUMBER.test(agent.slice(role.length))
      ? undefined
      : `${quoted(agent)} is not an agent: those of role ${role} are "${role}#1", "${role}#2", ...`;
  return agent === role ? undefined : `${quoted(agent)} is not an agent: role ${role} has one agent, "${role}"`;
}
