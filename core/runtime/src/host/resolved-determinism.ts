import { type Determinism, type EnvironmentDefinition, MrlmError, type Toolset } from "@mrlm/spec";
import { describeThrown } from "../plugins/error-location.ts";
import type { Requirements } from "./requirements.ts";

/** Guarantees in ascending order. */
const GUARANTEES: readonly Determinism[] = ["none", "replayable", "full"];

/** Returns the guarantee of an environment under its options: its own, or the least of its toolsets. Throws ENVIRONMENT_FAILED for a value that is none. */
export function resolvedDeterminism(
  definition: EnvironmentDefinition,
  options: unknown,
  requirements: Requirements,
): Determinism {
  const tools = [...requirements].filter(([requirement]) => requirement.startsWith("tool:"));
  const stated: readonly (readonly [owner: string, determinism: Determinism])[] = [
    [`environment ${definition.id}`, ownDeterminism(definition, options)],
    ...tools.map(([id, toolset]) => [`toolset ${id.slice(5)}`, (toolset as Toolset).determinism ?? "full"] as const),
  ];
  const ranks = stated.map(([owner, determinism]) => {
    const rank = GUARANTEES.indexOf(determinism);
    if (rank >= 0) return rank;
    throw new MrlmError(
      "ENVIRONMENT_FAILED",
      `The determinism of ${owner} is ${JSON.stringify(determinism)}; it must be full, replayable or none.`,
    );
  });
  return GUARANTEES[Math.min(...ranks)] as Determinism;
}

function ownDeterminism(definition: EnvironmentDefinition, options: unknown): Determinism {
  const { id, determinism } = definition;
  if (typeof determinism !== "function") return determinism;
  try {
    return determinism.call(definition, options);
  } catch (error) {
    if (MrlmError.isInstance(error)) throw error;
    throw new MrlmError("ENVIRONMENT_FAILED", `Environment ${id} threw in determinism: ${describeThrown(error)}`, {
      cause: error,
    });
  }
}
