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
    [`environment ${definition.id}`, resolvedProperty(definition, "determinism", options)],
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

type Resolved<K extends keyof EnvironmentDefinition> = Exclude<
  EnvironmentDefinition[K],
  (...given: never[]) => unknown
>;

/** Returns a property that may be a function of the options. Throws ENVIRONMENT_FAILED where the function throws. */
export function resolvedProperty<K extends "determinism" | "rewardRange" | "roles">(
  definition: EnvironmentDefinition,
  name: K,
  options: unknown,
): Resolved<K> {
  const property = definition[name];
  if (typeof property !== "function") return property as Resolved<K>;
  try {
    const resolve = property as (this: EnvironmentDefinition, given: unknown) => unknown;
    return resolve.call(definition, options) as Resolved<K>;
  } catch (error) {
    if (MrlmError.isInstance(error)) throw error;
    throw new MrlmError(
      "ENVIRONMENT_FAILED",
      `Environment ${definition.id} threw in ${name}: ${describeThrown(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** Returns the range of an agent's rewards in an episode under options; default 0 to 1. Throws ENVIRONMENT_FAILED for a value that is none. */
export function resolvedRewardRange(definition: EnvironmentDefinition, options: unknown): readonly [number, number] {
  const range: unknown =
    definition.rewardRange === undefined ? [0, 1] : resolvedProperty(definition, "rewardRange", options);
  const [least, largest] = Array.isArray(range) && range.length === 2 ? (range as [unknown, unknown]) : [];
  if (typeof least === "number" && typeof largest === "number" && least <= largest) return [least, largest];
  throw new MrlmError(
    "ENVIRONMENT_FAILED",
    `The rewardRange of environment ${definition.id} is ${JSON.stringify(range)}; it must be two numbers, the smallest first.`,
  );
}
