import {
  type Judge,
  type Requirement,
  type Sandbox,
  type Scorer,
  type Toolset,
  type Workspaces,
  MrlmError,
} from "@mrlm/spec";
import { resolveVersioned } from "../names/versioned.ts";
import type { ServiceKind, Services } from "../plugins/plugin-kinds.ts";
import { withPlugin } from "../plugins/service-plugins.ts";
import { toolConflict } from "./session-tools.ts";

/** Services that an environment requires, by declared requirement: `scorer:math@2`. */
export type Requirements = ReadonlyMap<string, Judge | Sandbox | Scorer | Toolset | Workspaces>;

/** Returns the services that an environment declares. Creates those that do not exist yet. */
export async function gatherRequirements(
  environment: string,
  requires: readonly Requirement[],
  services: Services,
): Promise<Requirements> {
  const gathered = new Map<string, Judge | Sandbox | Scorer | Toolset | Workspaces>();
  for (const requirement of requires) {
    if (gathered.has(requirement.id)) continue;
    const { kind, id } = splitRequirement(environment, requirement.id);
    gathered.set(requirement.id, await services.service(kind, id, requirement.asker));
  }
  assertToolNames(gathered);
  return gathered;
}

/** Throws TOOL_CONFLICT for two tools of one name, where the names are known without an episode. */
function assertToolNames(requirements: Requirements): void {
  const owners = new Map<string, string>();
  for (const [requirement, service] of requirements) {
    if (!requirement.startsWith("tool:")) continue;
    const id = requirement.slice("tool:".length);
    const toolset = withPlugin(id, service);
    for (const { name } of (service as Toolset).definitions ?? []) {
      const other = owners.get(name);
      if (other !== undefined) throw toolConflict(name, other, toolset);
      owners.set(name, toolset);
    }
  }
}

/** Returns a service among the declared ones, with its declared id. Throws REQUIREMENT_UNDECLARED for any other. */
export function declared<T>(
  environment: string,
  requirements: Requirements,
  kind: ServiceKind,
  name: string,
): { readonly id: string; readonly service: T } {
  const prefix = `${kind}:`;
  const ids = [...requirements.keys()]
    .filter((requirement) => requirement.startsWith(prefix))
    .map((requirement) => requirement.slice(prefix.length));
  const id = resolveVersioned(name, ids) ?? ids.find((candidate) => resolveVersioned(candidate, [name]) !== undefined);
  if (id === undefined) {
    throw new MrlmError(
      "REQUIREMENT_UNDECLARED",
      `Environment ${environment} asked for ${kind} "${name}" without declaring it.`,
      {
        hint: `Add "${kind}:${name}" to its \`requires\`.`,
      },
    );
  }
  return { id, service: requirements.get(prefix + id) as T };
}

function splitRequirement(environment: string, requirement: string): { kind: ServiceKind; id: string } {
  const [kind, id] = requirement.split(/:(.*)/s, 2);
  const known: readonly string[] = ["scorer", "judge", "sandbox", "tool", "workspace"];
  if (kind === undefined || !id || !known.includes(kind)) {
    throw new MrlmError(
      "PLUGIN_INVALID",
      `Environment ${environment} requires "${requirement}", which is not of the form scorer:NAME, judge:NAME, sandbox:LANGUAGE, tool:NAME or workspace:PLATFORM.`,
    );
  }
  return { kind: kind as ServiceKind, id };
}
