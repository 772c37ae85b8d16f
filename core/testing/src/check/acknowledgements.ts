import { entryOf, FINDINGS, type FindingCode } from "./codes.ts";
import { Defect } from "./defect.ts";
import type { Acknowledgements } from "./run-check.ts";

/** Returns a defect for each acknowledgement of a code that is no warning, and for each without a reason. */
export function acknowledgementDefects(acknowledged: Acknowledgements = {}): Defect[] {
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
