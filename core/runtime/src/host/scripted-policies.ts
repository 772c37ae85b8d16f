import {
  type Action,
  type EnvironmentContext,
  type EnvironmentDefinition,
  MrlmError,
  type Policy,
  type ScriptedPlayer,
} from "@mrlm/spec";
import { didYouMean, quoted } from "../names/nearest.ts";
import { ownMember } from "../names/own-member.ts";
import { describeThrown } from "../plugins/error-location.ts";
import type { PhaseClock } from "./phase-clock.ts";
import { validateResult } from "./validate-result.ts";

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
  const blamed = (call: string, error: unknown): unknown =>
    MrlmError.isInstance(error) ? error : failed(`threw in ${call}: ${describeThrown(error)}`, error);
  let policy: Policy;
  try {
    policy = create(context, options, seed);
  } catch (error) {
    throw blamed("its creation", error);
  }
  if (typeof policy?.act !== "function") throw failed("has no act()");
  return {
    async act(observation, given) {
      const returned = await clock
        .run("step", [given.signal], (signal) => policy.act(observation, { signal }))
        .catch((error: unknown) => {
          throw blamed("act", error);
        });
      const checked = validateResult<Action>("action", returned);
      if ("problem" in checked) throw failed(`returned something malformed from act: ${checked.problem}`);
      if (checked.value.agent !== observation.agent)
        throw failed(`acted as ${quoted(checked.value.agent)} while it was ${quoted(observation.agent)}'s turn`);
      if (checked.value.finishReason === "exhausted")
        throw failed("returned the finish reason exhausted, which only the host states");
      return checked.value;
    },
  };
}
