import type { FindingCode, Severity } from "./codes.ts";

/** Place in the author's code. */
export interface Place {
  /** Relative to the folder of the package. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** Defect of a plugin, as a check reports it. */
export interface Finding {
  /** Stable; docs/reference/checks.md has a section for each. */
  readonly code: FindingCode;
  readonly severity: Severity;
  /** `environment:reverse@1`, `scorer:math@2`, `package`. */
  readonly subject: string;
  /** Name of the check. */
  readonly check: string;
  /** Event and reason, with the measured values. */
  readonly message: string;
  /** Action of the author that removes the defect. */
  readonly fix: string;
  readonly place?: Place;
  /** The author's reason for a warning that stays, from `acknowledged` of the definition. */
  readonly acknowledged?: string;
}

/** Returns whether a finding makes a check fail. */
export function isOpen({ acknowledged }: Finding): boolean {
  return acknowledged === undefined;
}
