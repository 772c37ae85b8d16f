import { entryOf, type FindingCode, FINDINGS } from "../check/codes.ts";
import { Defect } from "../check/defect.ts";
import type { Acknowledgements } from "../check/run-check.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";

/** Checks of `acknowledged` of a definition. */
export const acknowledgementChecks: readonly EnvironmentCheck[] = [
  {
    code: "ACKNOWLEDGEMENT_INVALID",
    name: "acknowledges warnings only, each with a reason",
    run: async ({ definition }) => acknowledgementDefects(definition.acknowledged),
  },
];

/** Returns a defect for each acknowledgement of a code that is no warning, and for each without a reason. */
function acknowledgementDefects(acknowledged: Acknowledgements = {}): Defect[] {
  return Object.entries(acknowledged).flatMap(([code, reason]) => {
    const entry = Object.hasOwn(FINDINGS, code) ? entryOf(code as FindingCode) : undefined;
    const fault =
      entry === undefined
        ? "no check reports that code"
        : entry.severity === "error"
          ? "it is an error, and only warnings can be acknowledged"
          : typeof reason !== "string" || reason.trim() === ""
            ? "it has no reason"
            : undefined;
    return fault === undefined
      ? []
      : [new Defect("ACKNOWLEDGEMENT_INVALID", `\`acknowledged\` has ${code}: ${fault}.`, { about: code })];
  });
}
