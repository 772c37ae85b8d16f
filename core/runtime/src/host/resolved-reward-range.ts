import { type EnvironmentDefinition, MrlmError } from "@mrlm/spec";
import { describeThrown } from "../plugins/error-location.ts";

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
