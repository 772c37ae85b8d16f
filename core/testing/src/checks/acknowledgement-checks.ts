import { acknowledgementDefects } from "../check/acknowledgements.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of `acknowledged` of a definition. */
export const acknowledgementChecks: readonly EnvironmentCheck[] = [
  {
    code: "ACKNOWLEDGEMENT_INVALID",
    name: "acknowledges warnings only, each with a reason",
    run: async ({ definition }) => acknowledgementDefects(definition.acknowledged),
  },
];
