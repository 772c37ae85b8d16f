import type { EnvironmentDefinition } from "@mrlm/spec";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { fixtureChecks } from "../contract/fixture-checks.ts";
import { roleChecks } from "../contract/role-checks.ts";
import { sessionChecks } from "../contract/session-checks.ts";
import { taskChecks } from "../contract/task-checks.ts";
import { abortChecks } from "./abort-checks.ts";
import { acknowledgementChecks } from "./acknowledgement-checks.ts";
import { dataChecks } from "./data-checks.ts";
import { determinismChecks } from "./determinism-checks.ts";
import { failingServiceChecks } from "./failing-service-checks.ts";
import { leakChecks } from "./leak-checks.ts";
import { optionChecks } from "./option-checks.ts";
import { rewardChecks } from "./reward-checks.ts";
import { strategyChecks } from "./strategy-checks.ts";

/** Returns the checks of an environment that hold over every transport: calls, tasks, fixtures, roles. */
export function contractChecks(definition: EnvironmentDefinition): EnvironmentCheck[] {
  return [...sessionChecks, ...taskChecks, ...fixtureChecks(definition.fixtures ?? []), ...roleChecks(definition)];
}

/** Checks of an environment that no transport changes. They run in process. */
export const behaviourChecks: readonly EnvironmentCheck[] = [
  ...acknowledgementChecks,
  ...optionChecks,
  ...determinismChecks,
  ...rewardChecks,
  ...strategyChecks,
  ...dataChecks,
  ...abortChecks,
  ...failingServiceChecks,
  ...leakChecks,
];
