import type { EnvironmentDefinition, JsonObject } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import type { Transcript } from "./play.ts";

/** Returns the range of an agent's total under these options. Options that the schema refuses give the default range: another check reports them. */
export async function rewardRangeOf(
  { rewardRange = [0, 1], options: schema }: EnvironmentDefinition,
  options: JsonObject = {},
): Promise<readonly [number, number]> {
  if (typeof rewardRange !== "function") return rewardRange;
  const parsed = await schema?.["~standard"].validate(options);
  if (parsed !== undefined && parsed.issues !== undefined) return [0, 1];
  return rewardRange(parsed?.value ?? {});
}

/** Differences of rewards that are rounding. */
const EPSILON = 1e-9;

/** Returns whether a total is at least the largest of its range. */
export function reaches(total: number, largest: number): boolean {
  return total >= largest - EPSILON;
}

/** Throws a defect if a reward of the fixture's episode has an undeclared component, or if an agent's total is outside of the range. */
export async function checkRewardsOf(
  definition: EnvironmentDefinition,
  { name, options }: { readonly name: string; readonly options?: JsonObject | undefined },
  { steps, totals }: Transcript,
): Promise<void> {
  const { rewardComponents: declared = [] } = definition;
  const rewards = steps.flatMap((step) => Object.values(step.rewards));
  const components = rewards.flatMap((reward) => (reward.scored ? Object.keys(reward.components) : []));
  const undeclared = components.find((component) => !declared.includes(component));
  if (undeclared !== undefined)
    throw new Defect(
      "REWARD_COMPONENT_UNDECLARED",
      `A reward of fixture "${name}" has the component "${undeclared}"; declared are ${declared.join(", ") || "none"}.`,
      { about: undeclared },
    );
  const [least, largest] = await rewardRangeOf(definition, options);
  for (const [agent, total] of Object.entries(totals))
    if (total < least - EPSILON || total > largest + EPSILON)
      throw new Defect(
        "REWARD_OUT_OF_RANGE",
        `Agent "${agent}" earned ${total} in fixture "${name}"; the range is ${least} to ${largest}.`,
        { about: name },
      );
}
