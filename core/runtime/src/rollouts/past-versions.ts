import { hash64 } from "@mrlm/kit/service";
import type { ModelId, PolicyId, RoleId } from "@mrlm/spec";

/** Returns the id of a copy in the engine. */
export function pastModel(policy: PolicyId, version: number): ModelId {
  return `past-${policy}-${version}`;
}

/** Returns the policy that a copy is of; `undefined` for another model. */
export function policyOfPast(model: ModelId): PolicyId | undefined {
  return /^past-(.+)-\d+$/.exec(model)?.[1];
}

/** Returns the version that a group meets in a role, from the run's seed and the group alone. */
export function drawPast(
  versions: readonly number[],
  newest: number,
  { runSeed, group, role }: { readonly runSeed: number; readonly group: string; readonly role: RoleId },
): number {
  // Two numbers in [0, 1) of 32 bits each.
  const bits = hash64(`past/${runSeed}/${group}/${role}`);
  const [first, second] = [Number(bits >> 32n) / 2 ** 32, Number(bits & 0xff_ff_ff_ffn) / 2 ** 32];
  const index = first < newest ? versions.length - 1 : Math.floor(second * versions.length);
  return versions[index] as number;
}
