import type { EnvironmentDefinition } from "@mrlm/spec";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { fixtureChecks } from "../contract/fixture-checks.ts";
import { roleChecks } from "../contract/role-checks.ts";
import { sessionChecks } from "../contract/session-checks.ts";
import { taskChecks } from "../contract/task-checks.ts";
import { abortChecks } from "./abort-checks.ts";
import type { AttackOptions } from "../check/attack-options.ts";
import { acknowledgementChecks } from "./acknowledgement-checks.ts";
import { attackChecks } from "./attack-checks.ts";
import { dataChecks } from "./data-checks.ts";
import { determinismChecks } from "./determinism-checks.ts";
import { failingServiceChecks } from "./failing-service-checks.ts";
import { leakChecks } from "./leak-checks.ts";
import { optionChecks } from "./option-checks.ts";
import { overlapChecks } from "./overlap-checks.ts";
import { privateChecks } from "./private-checks.ts";
import { rewardChecks } from "./reward-checks.ts";
import { snapshotChecks } from "./snapshot-checks.ts";

/** Returns the checks of an environment that hold over every transport: calls, tasks, fixtures, roles. */
export function contractChecks(definition: EnvironmentDefinition): EnvironmentCheck[] {
  return [...sessionChecks, ...taskChecks, ...fixtureChecks(definition.fixtures ?? []), ...roleChecks(definition)];
}

/** Checks of a new environment: state of many episodes would hide what they find. */
export const firstChecks: readonly EnvironmentCheck[] = [
  ...acknowledgementChecks,
  ...optionChecks,
  ...determinismChecks,
  ...snapshotChecks,
];

/** Returns the checks of what is played. They play many tasks: state that an episode leaves would hide what the first ones find. */
export function playChecks(attack: AttackOptions): EnvironmentCheck[] {
  return [...overlapChecks, ...privateChecks, ...dataChecks, ...abortChecks, ...attackChecks(attack), ...rewardChecks];
}

/** Checks that make environments of their own, whose services and calls fail. */
export const failureChecks: readonly EnvironmentCheck[] = [...failingServiceChecks, ...leakChecks];
