import type { FindingCode } from "./codes.ts";
import type { Place } from "./finding.ts";

/** Defect that a check found. The check throws it, or returns several. */
export class Defect extends Error {
  readonly code: FindingCode;
  /** Action of the author, where it is more exact than the fix of the code. */
  readonly fix: string | undefined;
  readonly place: Place | undefined;
  /** Text of the author's source near the defect, such as a fixture's name, by which its place is found. */
  readonly about: string | undefined;

  constructor(
    code: FindingCode,
    message: string,
    more: { readonly fix?: string; readonly place?: Place; readonly about?: string; readonly cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.name = "Defect";
    this.code = code;
    this.fix = more.fix;
    this.place = more.place;
    this.about = more.about;
  }
}
