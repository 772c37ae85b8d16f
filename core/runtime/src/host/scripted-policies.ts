import { type EnvironmentContext, type EnvironmentDefinition, MrlmError, type Policy } from "@mrlm/spec";
import type { ScriptedPlayer } from "@mrlm/spec/host";
import { didYouMean, quoted } from "../names/nearest.ts";
import { ownMember } from "../names/own-member.ts";
import { checkedPolicy, thrownBy } from "./checked-policy.ts";
import type { PhaseClock } from "./phase-clock.ts";

/** Creates a scripted policy of an environment. Its actions are validated, and it has the deadline of a step. */
export function createScriptedPolicy(
  definition: EnvironmentDefinition,
  context: EnvironmentContext,
  clock: PhaseClock,
  { name, options = {}, seed }: ScriptedPlayer,
): Policy {
  const create = ownMember(definition.scriptedPolicies, name);
  const known = Object.keys(definition.scriptedPolicies ?? {});
  if (create === undefined)
    throw new MrlmError(
      "PLAYER_NOT_FOUND",
      `Environment ${definition.id} has no scripted policy ${quoted(name)}.${didYouMean(name, known)}`,
      { hint: known.length === 0 ? "It defines none." : `It has ${known.join(", ")}.` },
    );
  const failed = (fault: string, cause?: unknown): MrlmError =>
    new MrlmError("ENVIRONMENT_FAILED", `Scripted policy "${name}" of environment ${definition.id} ${fault}.`, {
      ...(cause === undefined ? {} : { cause }),
    });
  let policy: Policy;
  try {
    policy = create(context, options, seed);
  } catch (error) {
    throw thrownBy("its creation", error, failed);
  }
  return checkedPolicy(policy, {
    failed,
    run: (signal, work) => clock.run("step", [signal], (options) => work(options.signal)),
  });
}
