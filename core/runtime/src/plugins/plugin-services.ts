import { resolve } from "node:path";
import { type Logger, MrlmError, type PluginContext, type RewardModel } from "@mrlm/spec";
import { resolveVersioned } from "../names/versioned.ts";
import type { ServiceKind, ServiceTypes } from "./plugin-kinds.ts";
import type { RegistryEntry } from "./plugin-registry.ts";

/** Services that are created for other services, as edges of a graph. A circle would wait for itself. */
export class ServiceGraph {
  readonly #needs = new Map<string, Set<string>>();

  /** Records that `asker` waits for `needed`. Throws PLUGIN_INVALID with the path of a circle. */
  add(asker: string, needed: string): void {
    const path = this.#pathOf(needed, asker);
    if (path !== undefined)
      throw new MrlmError(
        "PLUGIN_INVALID",
        `Services require each other in a circle: ${[asker, ...path].join(" -> ")}.`,
        {
          hint: "Leave one of these requirements out of the manifests.",
        },
      );
    const needs = this.#needs.get(asker) ?? new Set();
    this.#needs.set(asker, needs.add(needed));
  }

  /** Returns the services from one to another, both included; `undefined` if the first does not need the second. */
  #pathOf(from: string, to: string, seen = new Set<string>()): readonly string[] | undefined {
    if (from === to) return [to];
    if (seen.has(from)) return undefined;
    seen.add(from);
    for (const next of this.#needs.get(from) ?? []) {
      const rest = this.#pathOf(next, to, seen);
      if (rest !== undefined) return [from, ...rest];
    }
    return undefined;
  }
}

/** Creates the context of a factory: the services that the manifest of its plugin requires. */
export function pluginContext(parts: {
  readonly entry: RegistryEntry;
  /** Kind and id of the service that the factory makes. */
  readonly service: string;
  readonly logger: Logger;
  /** Base of relative file names. */
  readonly directory: string;
  readonly graph: ServiceGraph;
  create<K extends ServiceKind>(kind: K, id: string, asker: string): Promise<ServiceTypes[K]>;
  /** Returns the full id of a provision: `math@2` for `math`. */
  resolve(kind: ServiceKind, id: string): string | undefined;
  /** Returns the reward model of an absolute path. */
  rewardModel(path: string): RewardModel;
}): PluginContext {
  const { entry, service, logger, directory, graph } = parts;
  const required = async <K extends ServiceKind>(kind: K, id: string): Promise<ServiceTypes[K]> => {
    const prefix = `${kind}:`;
    const listed = entry.requires.flatMap((each) => (each.startsWith(prefix) ? each.slice(prefix.length) : []));
    if (!listed.some((each) => each === id || resolveVersioned(id, [each]) !== undefined))
      throw new MrlmError(
        "REQUIREMENT_UNDECLARED",
        `Plugin ${entry.name} asked for ${kind} "${id}" for ${service}, and its manifest does not require it.`,
        { hint: `Add "${kind}:${id}" to \`mrlm.requires\` in its package.json.` },
      );
    graph.add(service, `${kind}:${parts.resolve(kind, id) ?? id}`);
    return parts.create(kind, id, `plugin ${entry.name}`);
  };
  return {
    logger,
    scorer: (id) => required("scorer", id),
    judge: (id) => required("judge", id),
    sandbox: (language) => required("sandbox", language),
    tools: (id) => required("tool", id),
    workspaces: (platform) => required("workspace", platform),
    rewardModel: (path) => parts.rewardModel(resolve(directory, path)),
    dataPath: (path) => resolve(directory, path),
  };
}
