import { type Determinism, type EnvironmentDefinition, MrlmError } from "@mrlm/spec";
import { describeThrown } from "../plugins/error-location.ts";
import type { Requirements } from "./requirements.ts";

/** Guarantees in ascending order. */
const GUARANTEES: readonly Determinism[] = ["none", "replayable", "full"];

/** Service that states how repeatable its results are. */
interface GradedService {
  readonly determinism?: Determinism;
}

/** Returns the guarantee of an environment under its options: its own, or the least of its toolsets, scorers and judges. Throws ENVIRONMENT_FAILED for a value that is none. */
export function resolvedDeterminism(
  definition: EnvironmentDefinition,
  options: unknown,
  requirements: Requirements,
): Determinism {
  const services = [...requirements].flatMap(([requirement, service]) => {
    const [kind, id] = requirement.split(/:(.*)/s) as [string, string];
    const named = { tool: "toolset", scorer: "scorer", judge: "judge" }[kind];
    return named === undefined ? [] : [[`${named} ${id}`, (service as GradedService).determinism ?? "full"] as const];
  });
  const stated: readonly (readonly [owner: string, determinism: Determinism])[] = [
    [`environment ${definition.id}`, ownDeterminism(definition, options)],
    ...services,
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

/** Returns the range of an agent's rewards in an episode under options; default 0 to 1. Throws ENVIRONMENT_FAILED for a value that is none. */
export function resolvedRewardRange(definition: EnvironmentDefinition, options: unknown): readonly [number, number] {
  const { id, rewardRange = [0, 1] } = definition;
  let range: unknown = rewardRange;
  if (typeof rewardRange === "function")
    try {
      range = rewardRange.call(definition, options);
    } catch (error) {
      if (MrlmError.isInstance(error)) throw error;
      throw new MrlmError("ENVIRONMENT_FAILED", `Environment ${id} threw in rewardRange: ${describeThrown(error)}`, {
        cause: error,
      });
    }
  const [least, largest] = Array.isArray(range) && range.length === 2 ? (range as [unknown, unknown]) : [];
  if (typeof least === "number" && typeof largest === "number" && least <= largest) return [least, largest];
  throw new MrlmError(
    "ENVIRONMENT_FAILED",
    `The rewardRange of environment ${id} is ${JSON.stringify(range)}; it must be two numbers, the smallest first.`,
  );
}
